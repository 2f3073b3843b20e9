// SPDX-License-Identifier: Apache-2.0
/// All that is known of one grant's refreshing, for an operator who asks about it.
package struct GrantAccount: Sendable {
    /// How the configuration stands to the grant.
    package enum Standing: Sendable, Equatable {
        /// It was issued to the configured client.
        case configured(RefreshPolicy)
        /// Another client, endpoint or environment is configured under the provider's name.
        case otherClient
        /// No provider of that name is configured.
        case absent
    }

    package var record: ConsentRecord
    /// A refresh that is under way or whose outcome is unknown.
    package var attempt: RefreshAttempt?
    package var standing: Standing
    /// What the chain tells of its tokens, oldest first: the last ``eventsTold`` of such events.
    package var events: [StoredEvent]
    /// What the calls of all processes have shown of its provider; nil where nothing is known.
    package var health: ProviderHealth?
    package var now: Instant

    package static let eventsTold = 20

    package init(
        record: ConsentRecord, attempt: RefreshAttempt?, standing: Standing, events: [StoredEvent],
        health: ProviderHealth?, now: Instant
    ) {
        self.record = record
        self.attempt = attempt
        self.standing = standing
        self.events = events
        self.health = health
        self.now = now
    }

    package var policy: RefreshPolicy? {
        if case .configured(let policy) = standing { policy } else { nil }
    }

    /// What keeps its refresh token from going out now.
    package enum Obstacle: Sendable, Equatable {
        case ended(ConsentStatus)
        case reauthorizationRequired(StatusReason?)
        case noRefreshToken
        case providerAbsent
        case otherClient
        /// A refresh is under way, or its sender died and nobody has taken it over.
        case underWay(since: Instant)
        /// The last sending is in doubt.
        case inDoubt(until: Instant)
        /// Nobody may call its provider now, or one at a time.
        case provider(BlockReason, since: Instant?, until: Instant)
    }

    package var obstacles: [Obstacle] {
        switch record.status {
        case .superseded, .expired, .revoked: return [.ended(record.status)]
        case .reauthorizationRequired: return [.reauthorizationRequired(record.statusReason)]
        case .active, .failing: break
        }
        guard record.isRefreshable else { return [.noRefreshToken] }
        var found: [Obstacle] = []
        switch standing {
        case .absent: found.append(.providerAbsent)
        case .otherClient: found.append(.otherClient)
        case .configured(let policy):
            if let until = policy.isHeldBack(record.timing, by: attempt, at: now) {
                found.append(.inDoubt(until: until))
            }
        }
        if let health, case .blocked(let until, let reason) = health.permit(.refresh, at: now) {
            found.append(.provider(reason, since: health.since(reason), until: until))
        }
        if let attempt, attempt.phase == .sent { found.append(.underWay(since: attempt.sentAt)) }
        return found
    }

    /// When it is refreshed by itself and why; nil where it is not.
    package var next: (at: Instant, reason: DueReason)? {
        guard record.status.isGrantHeld, record.isRefreshable, let policy,
            let due = policy.believedDue(record.timing, at: now)
        else { return nil }
        let reason = policy.reason(
            of: record.timing, status: record.status, isInDoubt: attempt?.phase == .unknown, id: record.id,
            generation: record.generation)
        // Whoever finds it due before then puts it off.
        let heldBack = policy.isHeldBack(record.timing, by: attempt, at: now)
        return (max(due, heldBack ?? due), reason)
    }
}

extension ProviderHealth {
    /// Since when calls are held up for that reason; nil where they are not.
    fileprivate func since(_ reason: BlockReason) -> Instant? {
        switch reason {
        case .gate: gate?.since
        case .breaker: breaker?.since
        case .pause: pause?.since
        case .brake: brakeSince
        }
    }
}
