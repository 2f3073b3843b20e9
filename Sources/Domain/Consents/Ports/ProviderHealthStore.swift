// SPDX-License-Identifier: Apache-2.0

/// What the store tells of a provider whose calls have shown anything.
package struct ProviderState: Sendable, Equatable {
    package var provider: ProviderKey
    package var health: ProviderHealth
    /// Verdicts that wait for `incidents confirm` or `dismiss`.
    package var heldVerdicts: Int
    /// When the earliest of them came.
    package var heldSince: Instant?

    package init(provider: ProviderKey, health: ProviderHealth, heldVerdicts: Int, heldSince: Instant?) {
        self.provider = provider
        self.health = health
        self.heldVerdicts = heldVerdicts
        self.heldSince = heldSince
    }
}

/// What an operator makes of held verdicts.
package enum VerdictDecision: String, Sendable, Equatable {
    /// The grants are gone.
    case confirm
    /// They are not: they are tried again, and those declared dead just before the brake held as well.
    case dismiss
}

/// What was done with held verdicts.
package struct VerdictsDecided: Sendable, Equatable {
    /// Held verdicts that this part took.
    package var count: Int
    /// Whether some are left: ask again.
    package var isPart: Bool

    package init(count: Int, isPart: Bool) {
        self.count = count
        self.isPart = isPart
    }
}

/// A part of a provider's failing grants, made due.
package struct FailingSpread: Sendable, Equatable {
    package var count: Int
    /// Where the next part begins; nil where this was the last.
    package var next: ConsentID?

    package init(count: Int, next: ConsentID?) {
        self.count = count
        self.next = next
    }
}

/// Where all processes of a store keep what they know of their providers.
package protocol ProviderHealthStore: Sendable {
    /// Those with anything to tell; a provider that is not among them may be called.
    func providerStates() async throws(StoreFailure) -> [ProviderState]
    /// Takes an event in, where it comes with no other write.
    /// - Parameter spread: 0 to 1, where in a wait's range it lies.
    func note(_ event: HealthEvent, of attempt: AttemptID, at provider: ProviderKey, now: Instant, spread: Double)
        async throws(StoreFailure)
    /// Decides up to `limit` held verdicts; the last part lets the brake go.
    func decideVerdicts(
        of provider: ProviderKey, as decision: VerdictDecision, limit: Int, caller: String, at now: Instant
    ) async throws(StoreFailure) -> VerdictsDecided
    /// Makes up to `limit` failing grants of a provider due that has recovered: the first at `start`, the next `spacing`
    /// later. Those that are due within the time that this takes stay as they are, and so do those whose last sending
    /// is in doubt. The last part takes the mark of recovery away.
    /// - Parameter after: where the part before ended; nil for the first.
    func spreadFailing(
        of provider: ProviderKey, after: ConsentID?, from start: Instant, spacing: Duration, limit: Int, at now: Instant
    ) async throws(StoreFailure) -> FailingSpread
    /// Which of a client's secrets worked last, by its keyed digest; nil where none is known.
    func firstSecret(of provider: ProviderKey) async throws(StoreFailure) -> BlindIndex?
    func keepFirstSecret(_ digest: BlindIndex, of provider: ProviderKey, at now: Instant) async throws(StoreFailure)
}

extension ProviderHealthStore {
    /// The providers that a background refresh may not be sent to now, with the time to look again and the reason; every
    /// other may be called.
    package func blockedProviders(at now: Instant) async throws(StoreFailure)
        -> [ProviderKey: (until: Instant, reason: BlockReason)]
    {
        var blocked: [ProviderKey: (until: Instant, reason: BlockReason)] = [:]
        for state in try await providerStates() {
            if case .blocked(let until, let reason) = state.health.permit(.refresh, at: now) {
                blocked[state.provider] = (until, reason)
            }
        }
        return blocked
    }
}
