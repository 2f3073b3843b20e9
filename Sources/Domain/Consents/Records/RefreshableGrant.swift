// SPDX-License-Identifier: Apache-2.0
/// What a refresh has to know of a grant, as its row had it at one moment: what judges whether it may be sent, what opens
/// its tokens, and what times its next tries. What is only shown is not among it.
///
/// It may be a while old when it is acted upon: a claim holds only where generation, status and the last sending are
/// still those that stand here. An object, because a refresh takes it along through all of its steps.
package final class RefreshableGrant: Sendable {
    package let id: ConsentID
    package let provider: ProviderKey
    package let issuer: IssuingClient
    package let status: ConsentStatus
    package let statusReason: StatusReason?
    package let generation: Int64
    /// With the due time from before a claim, where one stands.
    package let timing: TokenTiming
    package let isRefreshable: Bool
    package let refreshFailures: Int
    /// Whether the provider has once sent another refresh token for it.
    package let hasRotated: Bool
    /// Blank-separated, as they are stored: hardly a refresh needs them apart.
    package let grantedScopes: String
    package let profileStatus: ProfileStatus
    package let profileFetchedAt: Instant?
    package let envelopes: Envelopes
    /// A sending that is under way or whose outcome is unknown.
    package let attempt: RefreshAttempt?
    package let chain: ChainEnd

    /// What is sealed of it.
    package struct Envelopes: Sendable {
        /// The consent's own key under the ring's; nil once the consent was erased.
        package var key: SealedBytes?
        /// Nil once they were destroyed.
        package var tokens: SealedBytes?

        package init(key: SealedBytes?, tokens: SealedBytes?) {
            self.key = key
            self.tokens = tokens
        }
    }

    package init(
        id: ConsentID, provider: ProviderKey, issuer: IssuingClient, status: ConsentStatus, statusReason: StatusReason?,
        generation: Int64, timing: TokenTiming, isRefreshable: Bool, refreshFailures: Int, hasRotated: Bool,
        grantedScopes: String, profileStatus: ProfileStatus, profileFetchedAt: Instant?, envelopes: Envelopes,
        attempt: RefreshAttempt?, chain: ChainEnd
    ) {
        self.id = id
        self.provider = provider
        self.issuer = issuer
        self.status = status
        self.statusReason = statusReason
        self.generation = generation
        self.timing = timing
        self.isRefreshable = isRefreshable
        self.refreshFailures = refreshFailures
        self.hasRotated = hasRotated
        self.grantedScopes = grantedScopes
        self.profileStatus = profileStatus
        self.profileFetchedAt = profileFetchedAt
        self.envelopes = envelopes
        self.attempt = attempt
        self.chain = chain
    }

    package var granted: ScopeSet { ScopeSet(blankSeparated: grantedScopes) }
}

/// What times a grant's tries.
package protocol RefreshCourse {
    var id: ConsentID { get }
    /// Counts token changes only.
    var generation: Int64 { get }
    var timing: TokenTiming { get }
    /// Since the last success.
    var refreshFailures: Int { get }
}

extension ConsentRecord: RefreshCourse {}
extension RefreshableGrant: RefreshCourse {}

/// Where a grant stands when its refresh has ended well.
package struct RefreshedGrant: Sendable, Equatable {
    package var id: ConsentID
    package var generation: Int64
    /// When the scheduler refreshes next; nil where it never does.
    package var nextAt: Instant?

    package init(id: ConsentID, generation: Int64, nextAt: Instant?) {
        self.id = id
        self.generation = generation
        self.nextAt = nextAt
    }

    /// As it was read.
    package init(_ grant: RefreshableGrant) {
        self.init(id: grant.id, generation: grant.generation, nextAt: grant.timing.dueAt)
    }
}
