// SPDX-License-Identifier: Apache-2.0
/// Where checkpoints are kept, and what they are made of.
///
/// A checkpoint is begun as a number alone. Every event carries the number of the last one that was begun before it,
/// its *period*: what stood when checkpoint N was begun is, at any later time, exactly the events of periods below N.
/// So nothing has to be read in one go, and whoever reads comes to the same root.
package protocol CheckpointStore: Sendable {
    /// Begins the next one, unless the last was begun less than the interval before `now`, or after it, as the clock
    /// may be put back. Of several processes one does.
    /// - Returns: whether it was begun now.
    func beginCheckpoint(every interval: Duration, at now: Instant) async throws(StoreFailure) -> Bool
    /// The oldest behind every signed one: the next to be signed. One before a signed one is never signed again.
    func unsignedCheckpoint() async throws(StoreFailure) -> StoredCheckpoint?
    /// The last that is signed.
    func lastCheckpoint() async throws(StoreFailure) -> StoredCheckpoint.Signed?
    /// Those behind that number, in their order.
    func checkpoints(after number: Int64, limit: Int) async throws(StoreFailure) -> [StoredCheckpoint]
    /// Where the chains behind `after` ended when that checkpoint was begun, in the order of their identifiers; a count
    /// of 0 for a consent that had no event yet.
    func chainHeads(atCheckpoint number: Int64, after: ConsentID?, limit: Int) async throws(StoreFailure)
        -> [ChainHead]
    /// - Returns: false where somebody else has signed it, or it is not there.
    func sign(_ signed: StoredCheckpoint.Signed) async throws(StoreFailure) -> Bool
    /// Consents that events or exchanges tell of and that have no record, in their order.
    func missingConsents(limit: Int) async throws(StoreFailure) -> [ConsentID]
}
