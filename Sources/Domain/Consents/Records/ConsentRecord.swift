// SPDX-License-Identifier: Apache-2.0
/// What is kept of one consent and may be read without a key: no token, no attribute, no identifier of a person.
package struct ConsentRecord: Sendable {
    package var id: ConsentID
    package var provider: ProviderKey
    package var issuer: IssuingClient
    package var status: ConsentStatus
    package var statusReason: StatusReason?
    package var supersededBy: ConsentID?
    package var requested: ScopeSet
    package var granted: ScopeSet
    package var profileStatus: ProfileStatus
    package var profileFetchedAt: Instant?
    /// Counts token changes only; every write of tokens is a compare-and-set on it. The first token set is 1.
    package var generation: Int64
    package var timing: TokenTiming
    package var isRefreshable: Bool
    package var lastRefreshedAt: Instant?
    package var refreshFailures: Int
    package var client: ClientApp?
    package var notice: NoticeReference?
    package var createdAt: Instant
    package var updatedAt: Instant

    package init(
        id: ConsentID, provider: ProviderKey, issuer: IssuingClient, status: ConsentStatus = .active,
        statusReason: StatusReason? = nil, supersededBy: ConsentID? = nil, requested: ScopeSet, granted: ScopeSet,
        profileStatus: ProfileStatus, profileFetchedAt: Instant?, generation: Int64, timing: TokenTiming,
        isRefreshable: Bool, lastRefreshedAt: Instant? = nil, refreshFailures: Int = 0, client: ClientApp?,
        notice: NoticeReference?, createdAt: Instant, updatedAt: Instant
    ) {
        self.id = id
        self.provider = provider
        self.issuer = issuer
        self.status = status
        self.statusReason = statusReason
        self.supersededBy = supersededBy
        self.requested = requested
        self.granted = granted
        self.profileStatus = profileStatus
        self.profileFetchedAt = profileFetchedAt
        self.generation = generation
        self.timing = timing
        self.isRefreshable = isRefreshable
        self.lastRefreshedAt = lastRefreshedAt
        self.refreshFailures = refreshFailures
        self.client = client
        self.notice = notice
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }
}

extension ConsentRecord {
    /// Until when the access token is good, or was; nil where it was destroyed with the grant.
    package var accessTokenExpiresAt: Instant? {
        switch status {
        case .revoked, .superseded: nil
        case .active, .failing, .reauthorizationRequired, .expired: timing.accessTokenExpiresAt
        }
    }
}

/// A token set's times, as they are stored beside it.
package struct TokenTiming: Sendable, Equatable {
    /// The moment before the request was sent that brought the tokens.
    package var issuedAt: Instant
    package var accessTokenExpiresAt: Instant
    /// The end of the refresh token by the provider's word; nil where it tells none.
    package var refreshTokenExpiresAt: Instant?
    /// When the scheduler refreshes next; nil where there is nothing to refresh.
    package var dueAt: Instant?

    package init(
        issuedAt: Instant, accessTokenExpiresAt: Instant, refreshTokenExpiresAt: Instant?, dueAt: Instant?
    ) {
        self.issuedAt = issuedAt
        self.accessTokenExpiresAt = accessTokenExpiresAt
        self.refreshTokenExpiresAt = refreshTokenExpiresAt
        self.dueAt = dueAt
    }
}

/// A record as the store hands it out: the readable part, the envelopes, and the blind index of its subject.
package struct StoredConsent: Sendable {
    @Boxed package var record: ConsentRecord
    package var subjectIndex: BlindIndex
    /// The consent's own key under the ring's; nil once the consent was erased.
    package var key: SealedBytes?
    package var subject: SealedBytes?
    package var providerSubjectIndex: BlindIndex?
    package var providerSubject: SealedBytes?
    package var tokens: SealedBytes?
    package var profile: SealedBytes?
    /// A refresh that is under way or whose outcome is unknown.
    package var attempt: RefreshAttempt?
    package var spare: SpareTokens?
    /// Whether the provider has once sent another refresh token for it.
    package var hasRotated = false
    /// For a new record: what happens where its provider subject is another subject's; nil does not look.
    package var sharing: SharedSubjectRule?

    fileprivate var block: Boxed<ConsentRecord> { _record }

    package init(
        record: ConsentRecord, subjectIndex: BlindIndex, key: SealedBytes?, subject: SealedBytes?,
        providerSubjectIndex: BlindIndex?, providerSubject: SealedBytes?, tokens: SealedBytes?, profile: SealedBytes?,
        attempt: RefreshAttempt?
    ) {
        self.record = record
        self.subjectIndex = subjectIndex
        self.key = key
        self.subject = subject
        self.providerSubjectIndex = providerSubjectIndex
        self.providerSubject = providerSubject
        self.tokens = tokens
        self.profile = profile
        self.attempt = attempt
    }
}

/// A refresh as its row tells it.
package struct RefreshAttempt: Sendable, Equatable {
    /// How far it came.
    package enum Phase: String, Sendable {
        /// The refresh token may be on its way; a lease holds the row.
        case sent
        /// It went out and nobody knows what became of it.
        case unknown
    }
    package var id: AttemptID
    package var phase: Phase
    package var owner: InstanceID
    /// When the token went out; where that came to no known end twice, the first time.
    package var sentAt: Instant
    /// Whether it is the second sending of the same token of which nobody knows the end.
    package var isRepeated = false

    package init(id: AttemptID, phase: Phase, owner: InstanceID, sentAt: Instant) {
        self.id = id
        self.phase = phase
        self.owner = owner
        self.sentAt = sentAt
    }
}

/// A record opened for somebody who may read it.
package struct OpenedConsent: Sendable {
    @Boxed package var record: ConsentRecord
    package var subject: Subject
    package var providerSubject: SecretText?
    /// The attributes; nil where none are held.
    package var profile: Profile?

    package init(record: ConsentRecord, subject: Subject, providerSubject: SecretText?, profile: Profile?) {
        self.record = record
        self.subject = subject
        self.providerSubject = providerSubject
        self.profile = profile
    }

    /// What was opened of a stored record, whose readable part is shared and not copied.
    package init(_ stored: StoredConsent, subject: Subject, providerSubject: SecretText?, profile: Profile?) {
        _record = stored.block
        self.subject = subject
        self.providerSubject = providerSubject
        self.profile = profile
    }
}
