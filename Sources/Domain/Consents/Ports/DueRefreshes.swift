// SPDX-License-Identifier: Apache-2.0
/// Which grants are to be refreshed without anybody asking, a provider at a time: what waits at one never has to be gone
/// through to find another's.
package protocol DueRefreshes: Sendable {
    /// One provider's grants whose `due_at` is past: those whose verdicts are held, then those whose refresh token ends
    /// soonest. Where these are fewer than asked for, also those that a wrong clock has dated further ahead than any
    /// delay can be, as far as they stand among the furthest. Costs the same however many there are.
    /// - Parameters:
    ///   - policy: the provider's; what it tells of the longest delay and of a refresh token's end.
    ///   - limit: how many at most.
    func dueRefreshes(of provider: ProviderKey, policy: RefreshPolicy, at now: Instant, limit: Int)
        async throws(StoreFailure) -> [DueRefresh]
    /// The same, each with what its refresh has to know: read at once, they are not read again one by one.
    /// - Parameters:
    ///   - underWay: those that are left out.
    ///   - skipped: how many of those that are due longest are left to others; of those that go first none is.
    func dueGrants(
        of provider: ProviderKey, policy: RefreshPolicy, besides underWay: Set<ConsentID>, behind skipped: Int,
        at now: Instant, limit: Int
    ) async throws(StoreFailure) -> [RefreshableGrant]
    /// When the next of a provider's grants is due, or was; nil where none ever will be.
    func nextDue(of provider: ProviderKey) async throws(StoreFailure) -> Instant?
    /// How much of a provider's is due, for whoever watches.
    func dueTally(of provider: ProviderKey, at now: Instant) async throws(StoreFailure) -> DueTally
    /// Puts off a grant that cannot be sent for a reason of its own, where its generation and its time are still those
    /// given and it is nobody's.
    func postpone(_ due: DueRefresh, until later: Instant, at now: Instant) async throws(StoreFailure)
}

/// A grant that is due, as it was read.
package struct DueRefresh: Sendable, Equatable {
    package var id: ConsentID
    package var generation: Int64
    package var dueAt: Instant
    /// When its refresh token ends, told or by the idle life; nil where nobody knows of an end.
    package var endsAt: Instant?
    /// Whether the death brake holds a verdict over it: of trials, it is the first.
    package var isHeld = false

    package init(id: ConsentID, generation: Int64, dueAt: Instant, endsAt: Instant?) {
        self.id = id
        self.generation = generation
        self.dueAt = dueAt
        self.endsAt = endsAt
    }

    /// Of a grant that was read whole.
    /// - Parameters:
    ///   - idleLife: after which the provider ends an unused refresh token; nil where it does not.
    ///   - now: when it is due where it does not tell.
    package init(_ grant: RefreshableGrant, idleLife: Duration?, at now: Instant) {
        let timing = grant.timing
        self.init(
            id: grant.id, generation: grant.generation, dueAt: timing.dueAt ?? now,
            endsAt: timing.refreshTokenExpiresAt ?? idleLife.map { timing.issuedAt.advanced(by: $0) })
    }

    /// Whether this one goes first.
    package func precedes(_ other: DueRefresh) -> Bool {
        if isHeld != other.isHeld { return isHeld }
        return switch (endsAt, other.endsAt) {
        case (let own?, let its?) where own != its: own < its
        case (_?, nil): true
        case (nil, _?): false
        default: (dueAt, id) < (other.dueAt, other.id)
        }
    }
}

/// How much of a provider's is due.
package struct DueTally: Sendable, Equatable {
    /// Counted to this and no further.
    package static let most = 100_000
    /// A grant that has been due for so long is overdue.
    package static let overdueAfter = Duration.seconds(300)

    package var due: Int
    package var overdue: Int
    /// Of the one that has been due for longest.
    package var oldest: Instant?
    /// Grants whose last sending is in doubt.
    package var ambiguous: Int

    package init(due: Int, overdue: Int, oldest: Instant?, ambiguous: Int) {
        self.due = due
        self.overdue = overdue
        self.oldest = oldest
        self.ambiguous = ambiguous
    }
}
