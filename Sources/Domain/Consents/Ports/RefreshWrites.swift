// SPDX-License-Identifier: Apache-2.0
/// What is written before a refresh token is sent.
package struct RefreshClaim: Sendable {
    package var id: ConsentID
    package var generation: Int64
    package var attempt: AttemptID
    /// The sending without a known end that stood on the row when it was read and judged; nil where none did. One that
    /// was named since then keeps the claim from holding.
    package var judged: AttemptID?
    package var at: Instant
    package var lease: Duration
    /// How urgently the provider is asked for it.
    package var asker = ProviderAsker.refresh
    /// Whether it holds for a grant that needs a new consent, too: an operator wants its kept tokens tried once more.
    package var isForced = false
    /// Whether sending the token that stands there once more may end the grant: where an earlier sender has died with
    /// it, its outcome is one of those that leave one trial at a time.
    package var costsGrants = false
    /// Where an earlier sending is found whose process has ended: one later than this is made due at once.
    package var onceMoreSince: Instant?
    /// Whether it holds only for a grant that is due by then: one that another process has tried meanwhile, and that
    /// waits for its next try, is left alone.
    package var isOfDue = false
    /// The due time that stands there and is none, for no delay can have put it so far ahead.
    package var unbelieved: Instant?

    package init(
        id: ConsentID, generation: Int64, attempt: AttemptID, judged: AttemptID?, at: Instant, lease: Duration
    ) {
        self.id = id
        self.generation = generation
        self.attempt = attempt
        self.judged = judged
        self.at = at
        self.lease = lease
    }
}

/// What somebody who wants to send a refresh token finds.
package enum ClaimAnswer: Sendable, Equatable {
    case claimed
    /// The row is as it was: the provider may not be asked now.
    /// - Parameter until: when to ask again; it may be blocked then, too.
    case blocked(until: Instant, BlockReason)
    /// A living instance holds the lease, or the row tells of a sending that was not judged: read it again.
    case held
    case generationMoved
    /// It was to hold only for a grant that is due, and this one is not any more.
    case notDue
    case ended
    /// The store came back from a copy, or went back under this process: nobody sends until an operator has accepted it.
    case refreshingStopped
}

/// What a refresh brought.
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
    /// Written with it; a write that comes out of the journal has none.
    package var health: HealthNote?
    /// Whether the answer held another refresh token than the one that was sent.
    package var hasRotated = false
    /// Where the consent's chain ended when the grant was read: most are still as they were, and what is written can be
    /// made ready for that. Nil where it is not known; the write is the same then.
    package var foundChain: ChainEnd?

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

/// How a refresh ended that brought no tokens.
package struct RefreshSettlement: Sendable {
    /// What it does to the row.
    package enum Change: Sendable, Equatable {
        /// Nothing left: the lease is given back and nothing else changes.
        case released
        /// The provider took nothing for a reason that is not the grant's: as it was, but due then, so that another is
        /// asked first.
        case deferred(dueAt: Instant)
        /// Nobody's fault that ends the grant: `failing`, one more failure, due again then.
        case failing(dueAt: Instant)
        /// Nobody knows: the attempt stays on the row as *unknown*.
        case unknown(dueAt: Instant?)
        /// The provider's own word that the grant is over. While the death brake holds, the verdict is kept beside the
        /// grant, which is `failing` then.
        case over(StatusReason)
    }
    package var id: ConsentID
    package var generation: Int64
    package var attempt: AttemptID
    package var change: Change
    package var at: Instant
    package var events: [EventDraft]
    /// Written with it.
    package var health: HealthNote?
    /// When the grant may be a trial, where its verdict is held.
    package var dueIfHeld: Instant?

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

/// What an attempt showed of its provider, written in the same transaction as what became of it.
package struct HealthNote: Sendable {
    package var provider: ProviderKey
    package var event: HealthEvent
    /// 0 to 1, where in a wait's range it lies.
    package var spread: Double

    package init(provider: ProviderKey, event: HealthEvent, spread: Double) {
        self.provider = provider
        self.event = event
        self.spread = spread
    }
}
