// SPDX-License-Identifier: Apache-2.0
/// Where consents are kept. Every writing call is one durable transaction: it has been synced to disk when it returns.
///
/// The store never sees a token, an attribute or a subject in clear. It knows which instances live, and gives events
/// their place in the chain.
package protocol ConsentStore: ProviderHealthStore {
    // Codes
    /// Reserves a code before it is sent, or tells what became of it. A reservation whose owner is dead is decided in
    /// the same transaction: sent becomes *unknown*, a kept grant is handed to the caller. An instance asks for a code
    /// in one flight at a time, so a kept grant of its own is one that no flight settles any more: it is handed over
    /// as well.
    func reserveCode(_ reservation: CodeReservation) async throws(StoreFailure) -> ReservationAnswer
    /// The code provably never left, or the provider did not take it: it may be sent again.
    func releaseCode(_ digest: BlindIndex, attempt: AttemptID, at now: Instant) async throws(StoreFailure)
    /// The code is spent and brought nothing.
    func endCode(
        _ digest: BlindIndex, attempt: AttemptID, as verdict: CodeVerdict, statement: SealedBytes?, at now: Instant
    ) async throws(StoreFailure)
    /// Commits the grant that a code brought, whoever holds the reservation by now.
    /// - Returns: false where the code has come to another end already.
    func keepGrant(_ digest: BlindIndex, attempt: AttemptID, grant: SealedBytes, at now: Instant)
        async throws(StoreFailure) -> Bool
    /// A kept grant becomes no consent: its code has come to this end, and its tokens stay sealed for a day.
    /// - Returns: false where no grant is kept there: somebody else has made a consent of it, or ended it, before.
    @discardableResult
    func refuseGrant(_ digest: BlindIndex, as verdict: CodeVerdict, statement: SealedBytes?, at now: Instant)
        async throws(StoreFailure) -> Bool

    /// Tells of a code that was presented for another subject: in the trail of its consent, or, where there is none yet,
    /// beside the code until there is one. Beside the code once a subject and caller, and only of the first few.
    /// - Parameter subject: whom it was presented for.
    func tellOfOtherSubject(_ subject: BlindIndex, presenting code: BlindIndex, _ event: EventDraft)
        async throws(StoreFailure)

    // Consents
    /// Makes a consent of a kept grant; the grant leaves the reservation, which points to the consent from then on.
    func createConsent(_ consent: StoredConsent, of code: BlindIndex, events: [EventDraft]) async throws(StoreFailure)
        -> CreateAnswer
    /// Puts a kept grant's tokens into a live record, where its generation is still the one given.
    func renewConsent(_ renewal: ConsentRenewal) async throws(StoreFailure) -> WriteAnswer
    func consent(_ id: ConsentID) async throws(StoreFailure) -> StoredConsent?
    /// Writes a profile and, where it is new, the provider subject. Where another live record has the same four, the
    /// older of the two becomes superseded: its tokens and attributes are destroyed.
    func saveProfile(_ write: ProfileWrite) async throws(StoreFailure) -> ProfileAnswer
    func append(_ event: EventDraft, to id: ConsentID) async throws(StoreFailure)
    /// Ends a record that has no refresh token and whose access token has lapsed (`expired`, `no_refresh_token`), where
    /// its generation is still the one given. The profile stays readable.
    func expire(_ id: ConsentID, generation: Int64, at now: Instant, event: EventDraft) async throws(StoreFailure)
        -> WriteAnswer
    func events(of id: ConsentID) async throws(StoreFailure) -> [StoredEvent]

    // Refreshing
    /// What a refresh has to know of a grant; nil where there is none, or it was erased.
    func refreshableGrant(_ id: ConsentID) async throws(StoreFailure) -> RefreshableGrant?
    /// One conditional update that takes the row's lease: it proves that the store takes writes before anything is
    /// sent.
    func claimRefresh(_ claim: RefreshClaim) async throws(StoreFailure) -> ClaimAnswer
    /// The whole token set in one statement, where the generation is the one given, whoever holds the lease. Where
    /// another refresh's tokens are there by then, these are kept as a spare, which the trail tells.
    func saveTokens(_ write: TokenWrite) async throws(StoreFailure) -> WriteAnswer
    /// A spare takes the place of refused tokens, where the row is still this attempt's.
    func promoteSpare(_ promotion: SparePromotion) async throws(StoreFailure) -> WriteAnswer
    /// Settles a failure, only where generation and attempt are still ours.
    func settleRefresh(_ settlement: RefreshSettlement) async throws(StoreFailure) -> WriteAnswer

    // Lives (refresh.md, *Restore*)
    func life() async throws(StoreFailure) -> StoreLife
    /// Goes one step further where the store is in the life that is known and has come at least as far. Where it has
    /// not, refreshing is stopped in the same transaction. From then on no claim of this instance holds in a store that
    /// is behind that step.
    /// - Parameters:
    ///   - known: where this process saw the store last; nil takes it as it is.
    ///   - newborn: the life that a store begins which no process has kept yet.
    func stepEpoch(from known: StoreEpoch?, newborn: UUIDv7, at now: Instant) async throws(StoreFailure) -> EpochStep
    /// No claim of any process holds from then on. The first reason stays.
    func stopRefreshing(_ reason: RefreshStop, at now: Instant) async throws(StoreFailure)
    /// An operator accepts the store as it is: it begins another life, and claims hold again.
    /// - Parameter epoch: its number is above all that was noted before.
    func acceptStore(as epoch: StoreEpoch, at now: Instant) async throws(StoreFailure)

    /// What is neither withdrawn nor superseded, in the order of the identifiers.
    func glances(after last: ConsentID?, limit: Int) async throws(StoreFailure) -> [GrantGlance]

    // Crashes
    /// Names what dead instances left: codes sent become *unknown*, refreshes sent become *unknown* (which their trails
    /// tell), and up to `limit` kept grants are handed over to be made consents. A refresh whose token may not go out
    /// again by its provider's policy leaves one trial at a time, as any unknown outcome does.
    func adoptAbandoned(limit: Int, policies: [ProviderKey: RefreshPolicy], at now: Instant) async throws(StoreFailure)
        -> Abandoned

    // Lists and evidence
    /// What a pass of the scheduled job would find; changes nothing.
    func waitingWork(at now: Instant) async throws(StoreFailure) -> WaitingWork
    func consents(_ query: ConsentQuery) async throws(StoreFailure) -> ConsentPage
    /// Writes the event unless one of its type by its caller stands in the chain since that moment: reading is told
    /// once a caller and day.
    /// - Returns: `written`, `alreadyWritten`, or `ended` where the record's state has no place for such an event: then
    ///   nothing was written, and what it tells of must not be done.
    @discardableResult
    func appendOnce(_ event: EventDraft, to id: ConsentID, since: Instant) async throws(StoreFailure) -> WriteAnswer
    /// The records behind `after` in the order of their identifiers, each as one row has it.
    func ledgerRecords(after: ConsentID?, limit: Int) async throws(StoreFailure) -> [LedgerRecord]
    func ledgerRecord(_ id: ConsentID) async throws(StoreFailure) -> LedgerRecord?
    /// A consent's events as their macs were made over them, oldest first.
    func chain(of id: ConsentID) async throws(StoreFailure) -> [ChainLink]

    // Withdrawal
    /// Ends a grant: `revoked`, tokens and attributes destroyed, the event written and the outbox filled, at once.
    /// An expired record and one that needs a new consent can be withdrawn as well.
    func withdraw(_ withdrawal: Withdrawal) async throws(StoreFailure) -> WithdrawAnswer
    /// Fills the outbox for tokens that came when their consent had ended.
    func queueRevocations(_ drafts: [RevocationDraft], at now: Instant) async throws(StoreFailure)
    /// Takes deliveries that are due, oldest first, with a lease on each. Of one consent's only the first that is not
    /// over is ever handed out.
    func claimRevocations(limit: Int, lease: Duration, at now: Instant) async throws(StoreFailure) -> [RevocationTask]
    /// Whether another consent of the same person there lives, which has a provider subject that is looked for. A provider
    /// subject that is not known yet holds nothing back.
    func wouldEndAnother(_ delivery: UUIDv7) async throws(StoreFailure) -> Bool
    /// Only where this instance still holds the lease.
    func settleRevocation(_ settlement: RevocationSettlement) async throws(StoreFailure)

    // API keys
    /// - Returns: false where there is no such key, or it was revoked before.
    func revokeAPIKey(named name: String, at now: Instant) async throws(StoreFailure) -> Bool
    /// Writes down when keys were last used; an earlier time than the one there changes nothing.
    func noteUses(_ uses: [String: Instant]) async throws(StoreFailure)
    func apiKeys() async throws(StoreFailure) -> [APIKey]
    /// - Throws: `StoreFailure.nameTaken` where a key has the name.
    func createAPIKey(_ key: APIKey) async throws(StoreFailure)
    /// Takes back a key that was just created and that nobody has got: its name is free again.
    func discardAPIKey(_ key: APIKey) async throws(StoreFailure)
}
