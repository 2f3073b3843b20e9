// SPDX-License-Identifier: Apache-2.0
internal import ConsentUseCases
internal import Consents
internal import Observability

/// Refreshes what is due at one provider, some at once, all through the one use case.
final class RefreshPass: Sendable {
    private let facts: ProviderFacts
    private let refresh: RefreshConsent
    private let store: any DueRefreshes
    private let slots: RefreshSlots
    private let budgets: ProviderBudgets
    private let time: any Timekeeper
    private let log: Log
    /// How many of the provider's go at once.
    private let share: Int

    /// So many troubles in a row, without a success between them, end a pass.
    private static let mostTroubles = 8
    /// One pass goes on no longer, so that conditions and order are looked at anew.
    private static let longest = Duration.seconds(30)
    /// A grant that cannot be sent for a reason of its own is looked at again after that.
    private static let postponement = Duration.seconds(600)
    /// So many that somebody else has in hand are not looked at again in the same pass.
    private static let mostSetAside = 64
    private static let caller = CallerIdentity(name: "scheduler", requestID: nil)

    init(
        facts: ProviderFacts, refresh: RefreshConsent, store: any DueRefreshes, slots: RefreshSlots, share: Int,
        budgets: ProviderBudgets, time: any Timekeeper, log: Log
    ) {
        self.facts = facts
        self.refresh = refresh
        self.store = store
        self.slots = slots
        self.share = share
        self.budgets = budgets
        self.time = time
        self.log = log
    }

    private enum Verdict: Sendable {
        case done
        /// Somebody else's by now, or not due any more.
        case passedOver
        case failed
        case troubled
        /// Nobody may call the provider now; nothing was sent.
        case blocked
    }

    private struct Ended: Sendable {
        var id: ConsentID
        var verdict: Verdict
    }

    /// What a pass knows of itself.
    private struct Course {
        var tally = PassTally()
        var troublesInARow = 0
        var isProbing: Bool
        var isBlocked = false
        var underWay: Set<ConsentID> = []
        /// Those that were passed over: where somebody holds a grant's row for long, it stays what is due first.
        private(set) var setAside: Set<ConsentID> = []
        /// How many have ended since the last page was read, and how many of them somebody else had.
        private var ends = 0
        private var passedOver = 0
        /// Whether others work on the same backlog, so that each keeps to a part of its own.
        private var isShared = false

        init(isProbing: Bool) { self.isProbing = isProbing }

        /// - Returns: whether another part of the backlog than its beginning is to be taken.
        mutating func beginPage() -> Bool {
            if passedOver * 4 > ends { isShared = true }
            (ends, passedOver) = (0, 0)
            return isShared
        }

        /// The backlog has no other parts.
        mutating func reachedEnd() { isShared = false }

        mutating func take(_ ended: Ended) {
            underWay.remove(ended.id)
            ends += 1
            if ended.verdict == .passedOver { passedOver += 1 }
            switch ended.verdict {
            case .passedOver:
                if setAside.count < RefreshPass.mostSetAside { setAside.insert(ended.id) }
            case .blocked: isBlocked = true
            case .done:
                tally.done += 1
                troublesInARow = 0
                isProbing = false
            case .failed:
                tally.failed += 1
                troublesInARow = 0
            case .troubled:
                tally.failed += 1
                troublesInARow += 1
            }
        }

        var isTroubled: Bool { troublesInARow >= (isProbing ? 1 : RefreshPass.mostTroubles) }
    }

    /// - Parameter isProbing: whether the provider had trouble last: then one call is made, and more only if that one
    ///   succeeds.
    func run(isProbing: Bool, _ conditions: PassConditions) async -> (end: PassEnd, tally: PassTally) {
        var course = Course(isProbing: isProbing)
        let end = await withTaskGroup(of: Ended.self) { group in
            let end = await go(&group, &course, conditions, until: time.monotonic + RefreshPass.longest)
            for await ended in group { course.take(ended) }
            return end
        }
        return (course.isTroubled ? .troubled : end, course.tally)
    }

    private func go(
        _ group: inout TaskGroup<Ended>, _ course: inout Course, _ conditions: PassConditions, until deadline: Duration
    ) async -> PassEnd {
        var page: ArraySlice<RefreshableGrant> = []
        while time.monotonic < deadline {
            guard conditions.mayBegin() else { return .interrupted }
            if course.isTroubled { return .troubled }
            if course.underWay.count >= (course.isProbing ? 1 : share) {
                if let ended = await group.next() { course.take(ended) }
                continue
            }
            if page.isEmpty {
                course.isBlocked = false
                if let until = await conditions.blockedUntil(facts.key) {
                    return .blocked(for: time.now.duration(to: until))
                }
                do throws(StoreFailure) { page = try await nextPage(&course) } catch { return told(error) }
                if page.isEmpty {
                    guard let ended = await group.next() else { return await idle(course) }
                    course.take(ended)
                    continue
                }
            }
            // What holds a call back is told where the next page would be read.
            if course.isBlocked { page = [] }
            guard let grant = page.popFirst() else { continue }
            guard await budgets.waitForTurn(facts.key.name, while: conditions.mayBegin) else { return .interrupted }
            await slots.take()
            course.underWay.insert(grant.id)
            group.addTask {
                let verdict = await self.refresh(grant, conditions)
                self.slots.giveBack()
                return Ended(id: grant.id, verdict: verdict)
            }
        }
        return .more
    }

    private func nextPage(_ course: inout Course) async throws(StoreFailure) -> ArraySlice<RefreshableGrant> {
        if course.beginPage() {
            let page = try await page(course, behind: part * 2 * share)
            if !page.isEmpty { return page }
            course.reachedEnd()
        }
        return try await page(course, behind: 0)
    }

    private func page(_ course: Course, behind skipped: Int) async throws(StoreFailure)
        -> ArraySlice<RefreshableGrant>
    {
        try await store.dueGrants(
            of: facts.key, policy: facts.policy, besides: course.underWay.union(course.setAside), behind: skipped,
            at: time.now, limit: course.isProbing ? 1 : 2 * share)[...]
    }

    /// One of eight, another each time, and seldom that of another process: their clocks do not go by the same nanosecond.
    private var part: Int { Int((time.monotonic.components.attoseconds / 1_000_000_000) % 8) }

    private func idle(_ course: Course) async -> PassEnd {
        do throws(StoreFailure) {
            let next = try await store.nextDue(of: facts.key)
            // What was set aside is due still.
            let soonest = course.setAside.isEmpty ? Duration.zero : .seconds(1)
            return .idle(next: next.map { max(time.now.duration(to: $0), soonest) })
        } catch { return told(error) }
    }

    private func told(_ failure: StoreFailure) -> PassEnd {
        log.warning("what is due could not be read", [Fact(.provider, facts.key.name), Fact(.reason, "\(failure)")])
        return .troubled
    }

    private func refresh(_ grant: RefreshableGrant, _ conditions: PassConditions) async -> Verdict {
        do throws(ConsentFailure) {
            let ended = try await refresh.whereDue(grant, caller: RefreshPass.caller)
            return ended.generation == grant.generation ? .passedOver : .done
        } catch {
            if case .providerUnavailable(_, nil) = error, await conditions.blockedUntil(facts.key) != nil {
                return .blocked
            }
            let (verdict, wait) = RefreshPass.verdict(on: error)
            if verdict != .troubled || !error.isOfTheStore { await postpone(grant, by: wait) }
            return verdict
        }
    }

    /// What a failure is to the pass, and how long the grant waits where the failure itself gave it no other time.
    private static func verdict(on failure: ConsentFailure) -> (Verdict, Duration) {
        switch failure {
        case .refreshPending: (.passedOver, .seconds(5))
        // It is not looked at again before it may be sent.
        case .heldBack(let wait): (.failed, wait)
        case .providerUnavailable(let wait, _), .refreshUnknown(let wait, _):
            (.troubled, min(max(wait, .seconds(5)), postponement))
        case .providerMisconfigured, .storeUnavailable, .refreshingStopped: (.troubled, .seconds(30))
        default: (.failed, postponement)
        }
    }

    private func postpone(_ grant: RefreshableGrant, by wait: Duration) async {
        let now = time.now
        let due = DueRefresh(grant, idleLife: facts.policy.idleLife, at: now)
        do throws(StoreFailure) {
            try await store.postpone(due, until: now.advanced(by: wait), at: now)
        } catch {
            log.warning("a grant could not be put off", [Fact(.consentID, "\(due.id)"), Fact(.reason, "\(error)")])
        }
    }
}

extension ConsentFailure {
    /// Whether it tells of the store, and nothing of the grant or its provider.
    fileprivate var isOfTheStore: Bool { self == .storeUnavailable || self == .refreshingStopped }
}
