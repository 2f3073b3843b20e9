// SPDX-License-Identifier: Apache-2.0

/// Which grants were ended by somebody's wish, kept outside the store: a copy that is put back does not know of those
/// that ended after it was made.
///
/// It holds keyed digests: without the vault's keys it tells neither who withdrew nor what.
package protocol WithdrawnList: Sendable {
    /// It is on the disk when this returns. Adding one twice does no harm.
    func append(_ digest: BlindIndex, at now: Instant) async throws(StateFailure)
    /// All that stands in it now.
    func contents() async throws(StateFailure) -> Set<BlindIndex>
}

/// On whose wish a grant ended, as the list tells them apart.
package enum GrantEnd: String, Sendable, CaseIterable {
    case user, `operator`, erasure

    /// What a record that is withdrawn again is told to have ended for.
    package var reason: StatusReason { self == .user ? .user : .operator }

    package init(_ reason: StatusReason) { self = reason == .user ? .user : .operator }
}

/// A consent as a restored store is looked through.
package struct GrantGlance: Sendable, Equatable {
    package var id: ConsentID
    package var status: ConsentStatus
    package var dueAt: Instant?
    package var updatedAt: Instant

    package init(id: ConsentID, status: ConsentStatus, dueAt: Instant?, updatedAt: Instant) {
        self.id = id
        self.status = status
        self.dueAt = dueAt
        self.updatedAt = updatedAt
    }
}
