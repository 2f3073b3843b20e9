// SPDX-License-Identifier: Apache-2.0

/// Tokens that a refresh brought when another refresh's had been saved already: kept sealed, and tried once if the
/// winner's refresh token is refused (refresh.md, *One refresh*, 5).
package struct SpareTokens: Sendable, Equatable {
    package var sealed: SealedBytes
    /// What the seal is bound to.
    package var generation: Int64

    package init(sealed: SealedBytes, generation: Int64) {
        self.sealed = sealed
        self.generation = generation
    }
}

/// Puts a spare in the place of tokens that the provider has refused, where the row is still the attempt's.
package struct SparePromotion: Sendable {
    package var id: ConsentID
    /// The generation of the refused tokens.
    package var generation: Int64
    package var attempt: AttemptID
    /// Which spare; it is none any more from then on.
    package var spareGeneration: Int64
    /// The spare's, bound to `generation + 1`.
    package var tokens: SealedBytes
    package var at: Instant
    package var event: EventDraft
    /// Written with it: the provider has looked at the refused tokens, and a trial has ended.
    package var health: HealthNote?

    package init(
        id: ConsentID, generation: Int64, attempt: AttemptID, spareGeneration: Int64, tokens: SealedBytes, at: Instant,
        event: EventDraft
    ) {
        self.id = id
        self.generation = generation
        self.attempt = attempt
        self.spareGeneration = spareGeneration
        self.tokens = tokens
        self.at = at
        self.event = event
    }
}

extension RefreshPolicy {
    /// The policy for one grant. A `static` provider that has once sent this grant another refresh token takes the old
    /// one for dead, as far as anybody knows: `forbidden` from then on.
    package func forGrant(hasRotated: Bool) -> RefreshPolicy {
        guard hasRotated, reuse == .fixed else { return self }
        var policy = self
        policy.reuse = .forbidden
        return policy
    }
}
