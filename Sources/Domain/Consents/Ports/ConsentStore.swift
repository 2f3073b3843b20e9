// SPDX-License-Identifier: Apache-2.0
/// Where consents are kept. Every writing call is one durable transaction: it has been synced to disk when it returns.
///
/// The store never sees a token, an attribute or a subject in clear. It knows which instances live, and gives events
/// their place in the chain.
package protocol ConsentStore: Sendable {
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

    // Consents
    /// Makes a consent of a kept grant; the grant leaves the reservation, which points to the consent from then on.
    func createConsent(_ consent: StoredConsent, of code: BlindIndex, events: [EventDraft]) async throws(StoreFailure)
        -> CreateAnswer
    /// Puts a kept grant's tokens into a live record, where its generation is still the one given.
    func renewConsent(_ renewal: ConsentRenewal) async throws(StoreFailure) -> WriteAnswer
    func consent(_ id: ConsentID) async throws(StoreFailure) -> StoredConsent?
    /// The one live record of the four.
    func liveConsent(of provider: ProviderKey, subject: BlindIndex, providerSubject: BlindIndex)
        async throws(StoreFailure) -> StoredConsent?
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
    /// One conditional update that takes the row's lease: it proves that the store takes writes before anything is
    /// sent.
    func claimRefresh(_ claim: RefreshClaim) async throws(StoreFailure) -> ClaimAnswer
    /// The whole token set in one statement, where the generation is the one given, whoever holds the lease.
    func saveTokens(_ write: TokenWrite) async throws(StoreFailure) -> WriteAnswer
    /// Settles a failure, only where generation and attempt are still ours.
    func settleRefresh(_ settlement: RefreshSettlement) async throws(StoreFailure) -> WriteAnswer

    // Crashes
    /// Names what dead instances left: codes sent become *unknown*, refreshes sent become *unknown*, and up to
    /// `limit` kept grants are handed over to be made consents.
    func adoptAbandoned(limit: Int, at now: Instant) async throws(StoreFailure) -> Abandoned

    // API keys
    func apiKeys() async throws(StoreFailure) -> [APIKey]
    /// - Throws: `StoreFailure.nameTaken` where a key has the name.
    func createAPIKey(_ key: APIKey) async throws(StoreFailure)
}

package struct CodeReservation: Sendable {
    package var digest: BlindIndex
    package var provider: ProviderKey
    package var subjectIndex: BlindIndex
    package var attempt: AttemptID
    package var at: Instant
    /// How long the sender may take: connect + answer + 30 s.
    package var lease: Duration
    /// After this the reservation is as if it had never been; nil keeps it as long as the consent.
    package var expiresAt: Instant?

    package init(
        digest: BlindIndex, provider: ProviderKey, subjectIndex: BlindIndex, attempt: AttemptID, at: Instant,
        lease: Duration, expiresAt: Instant?
    ) {
        self.digest = digest
        self.provider = provider
        self.subjectIndex = subjectIndex
        self.attempt = attempt
        self.at = at
        self.lease = lease
        self.expiresAt = expiresAt
    }
}

package enum ReservationAnswer: Sendable {
    /// The code is ours to send.
    case reserved
    /// It has become this consent, for the same subject.
    case consent(ConsentID)
    /// It came to another end, for the same subject.
    case ended(CodeVerdict, statement: SealedBytes?)
    /// A living instance has it on the wire.
    case underWay
    /// Its grant was kept, and nobody is making a consent of it: that is ours to do.
    case abandonedGrant(SealedBytes)
    /// Another subject's.
    case otherSubject(ConsentID?)
}

/// How a code ended that brought no consent.
package enum CodeVerdict: String, Sendable, CaseIterable {
    case codeRejected = "code_rejected"
    case idTokenInvalid = "id_token_invalid"
    case providerBadResponse = "provider_bad_response"
    case exchangeUnknown = "exchange_unknown"
}

package enum CreateAnswer: Sendable, Equatable {
    case created
    /// A live record has the same four; renew that one.
    case liveExists(ConsentID)
    /// The code's grant was made a consent already, by another instance.
    case alreadyConsent(ConsentID)
}

package struct ConsentRenewal: Sendable {
    package var id: ConsentID
    package var code: BlindIndex
    package var expectedGeneration: Int64
    /// Under the record's own key, bound to `expectedGeneration + 1`.
    package var tokens: SealedBytes
    package var timing: TokenTiming
    package var isRefreshable: Bool
    package var requested: ScopeSet
    package var granted: ScopeSet
    package var profile: SealedBytes
    package var issuer: IssuingClient
    package var client: ClientApp?
    package var notice: NoticeReference?
    package var at: Instant
    package var events: [EventDraft]

    package init(
        id: ConsentID, code: BlindIndex, expectedGeneration: Int64, tokens: SealedBytes, timing: TokenTiming,
        isRefreshable: Bool, requested: ScopeSet, granted: ScopeSet, profile: SealedBytes, issuer: IssuingClient,
        client: ClientApp?, notice: NoticeReference?, at: Instant, events: [EventDraft]
    ) {
        self.id = id
        self.code = code
        self.expectedGeneration = expectedGeneration
        self.tokens = tokens
        self.timing = timing
        self.isRefreshable = isRefreshable
        self.requested = requested
        self.granted = granted
        self.profile = profile
        self.issuer = issuer
        self.client = client
        self.notice = notice
        self.at = at
        self.events = events
    }
}

package enum WriteAnswer: Sendable, Equatable {
    case written
    /// The same attempt wrote it before.
    case alreadyWritten
    /// Somebody else's tokens are there: read the row again.
    case generationMoved
    /// The record has ended, or is not there.
    case ended
}

package struct ProfileWrite: Sendable {
    package var id: ConsentID
    package var status: ProfileStatus
    /// Nil leaves what is there.
    package var profile: SealedBytes?
    package var fetchedAt: Instant?
    package var providerSubject: (index: BlindIndex, sealed: SealedBytes)?
    package var at: Instant
    package var events: [EventDraft]
    /// Goes to a record that this one supersedes, or to this one if it is the older.
    package var superseding: EventDraft

    package init(
        id: ConsentID, status: ProfileStatus, profile: SealedBytes?, fetchedAt: Instant?,
        providerSubject: (index: BlindIndex, sealed: SealedBytes)?, at: Instant, events: [EventDraft],
        superseding: EventDraft
    ) {
        self.id = id
        self.status = status
        self.profile = profile
        self.fetchedAt = fetchedAt
        self.providerSubject = providerSubject
        self.at = at
        self.events = events
        self.superseding = superseding
    }
}

package enum ProfileAnswer: Sendable, Equatable {
    case saved
    /// Saved, and this older record gave way.
    case superseded(ConsentID)
    /// Not saved: a newer record has the same four, and this one gave way to it.
    case gaveWay(to: ConsentID)
    /// Not saved: the record has another provider subject, which never changes.
    case providerSubjectDiffers
    /// Not saved: the record has ended, or is not there.
    case ended
}

package struct RefreshClaim: Sendable {
    package var id: ConsentID
    package var generation: Int64
    package var attempt: AttemptID
    package var at: Instant
    package var lease: Duration

    package init(id: ConsentID, generation: Int64, attempt: AttemptID, at: Instant, lease: Duration) {
        self.id = id
        self.generation = generation
        self.attempt = attempt
        self.at = at
        self.lease = lease
    }
}

package enum ClaimAnswer: Sendable, Equatable {
    case claimed
    /// A living instance holds the lease.
    case held
    case generationMoved
    case ended
}

package struct TokenWrite: Sendable {
    package var id: ConsentID
    package var attempt: AttemptID
    package var expectedGeneration: Int64
    /// Bound to `expectedGeneration + 1`.
    package var tokens: SealedBytes
    package var timing: TokenTiming
    package var isRefreshable: Bool
    package var granted: ScopeSet
    package var at: Instant
    package var events: [EventDraft]

    package init(
        id: ConsentID, attempt: AttemptID, expectedGeneration: Int64, tokens: SealedBytes, timing: TokenTiming,
        isRefreshable: Bool, granted: ScopeSet, at: Instant, events: [EventDraft]
    ) {
        self.id = id
        self.attempt = attempt
        self.expectedGeneration = expectedGeneration
        self.tokens = tokens
        self.timing = timing
        self.isRefreshable = isRefreshable
        self.granted = granted
        self.at = at
        self.events = events
    }
}

package struct RefreshSettlement: Sendable {
    package enum Change: Sendable, Equatable {
        /// Nothing left: the lease is given back and nothing else changes.
        case released
        /// Nobody's fault that ends the grant: `failing`, one more failure, due again then.
        case failing(dueAt: Instant)
        /// Nobody knows: the attempt stays on the row as *unknown*.
        case unknown(dueAt: Instant?)
        /// The provider's own word that the grant is over.
        case over(StatusReason)
    }
    package var id: ConsentID
    package var generation: Int64
    package var attempt: AttemptID
    package var change: Change
    package var at: Instant
    package var events: [EventDraft]

    package init(
        id: ConsentID, generation: Int64, attempt: AttemptID, change: Change, at: Instant, events: [EventDraft]
    ) {
        self.id = id
        self.generation = generation
        self.attempt = attempt
        self.change = change
        self.at = at
        self.events = events
    }
}

/// What dead instances left.
package struct Abandoned: Sendable {
    package var codesNamedUnknown: Int
    package var refreshesNamedUnknown: Int
    package var grants: [(code: BlindIndex, sealed: SealedBytes)]

    package init(codesNamedUnknown: Int, refreshesNamedUnknown: Int, grants: [(code: BlindIndex, sealed: SealedBytes)])
    {
        self.codesNamedUnknown = codesNamedUnknown
        self.refreshesNamedUnknown = refreshesNamedUnknown
        self.grants = grants
    }
}

/// A caller's key as it is kept: its SHA-256, never the key.
package struct APIKey: Sendable, Equatable {
    package var name: String
    /// SHA-256 of the whole key text, 32 bytes.
    package var digest: [UInt8]
    package var scopes: Set<CallerScope>
    package var createdAt: Instant
    package var expiresAt: Instant?
    package var revokedAt: Instant?

    package init(
        name: String, digest: [UInt8], scopes: Set<CallerScope>, createdAt: Instant, expiresAt: Instant?,
        revokedAt: Instant? = nil
    ) {
        self.name = name
        self.digest = digest
        self.scopes = scopes
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
    }
}

/// What an API key may do (contract, section 2). `admin` implies no other.
package enum CallerScope: String, Sendable, CaseIterable {
    case consentsRead = "consents:read"
    case consentsWrite = "consents:write"
    case profilesRead = "profiles:read"
    case tokensRead = "tokens:read"
    case admin
}

/// Why the store did not do it, by what to do next. Never counted against a grant.
package enum StoreFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// Locked, full or busy: nothing was written; try again later.
    case retryLater(String)
    /// The file or server cannot be reached or is not what it was.
    case outOfReach(String)
    /// Made by a newer program.
    case schemaIsNewer(found: Int, known: Int)
    /// `migrate` has not been run.
    case schemaIsOlder(found: Int, known: Int)
    /// What lies in the store cannot be read.
    case damaged(String)
    case nameTaken

    package var description: String {
        switch self {
        case .retryLater(let detail): "the store takes no writes now: \(detail)"
        case .outOfReach(let detail): "the store cannot be reached: \(detail)"
        case .schemaIsNewer(let found, let known):
            "the store's schema is version \(found), this program knows \(known): run the newer program"
        case .schemaIsOlder(let found, let known):
            "the store's schema is version \(found), this program needs \(known): run `consent-gateway migrate`"
        case .damaged(let detail): "the store is damaged: \(detail)"
        case .nameTaken: "the name is taken"
        }
    }
}
