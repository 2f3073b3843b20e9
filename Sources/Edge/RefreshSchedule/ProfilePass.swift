// SPDX-License-Identifier: Apache-2.0
internal import ConsentUseCases
internal import Consents
internal import Observability

/// Fetches the profiles of one provider that were not to be had when their consents came.
final class ProfilePass: Sendable {
    private let key: ProviderKey
    private let profile: ReadProfile
    private let store: any PendingProfiles
    private let slots: RefreshSlots
    private let budgets: ProviderBudgets
    private let time: any Timekeeper
    private let log: Log

    private static let batch = 32
    private static let caller = CallerIdentity(name: "scheduler", requestID: nil)

    init(
        key: ProviderKey, profile: ReadProfile, store: any PendingProfiles, slots: RefreshSlots,
        budgets: ProviderBudgets, time: any Timekeeper, log: Log
    ) {
        self.key = key
        self.profile = profile
        self.store = store
        self.slots = slots
        self.budgets = budgets
        self.time = time
        self.log = log
    }

    /// One after the other; where the provider does not give the first, the others wait.
    func run(_ conditions: PassConditions) async -> (end: PassEnd, tally: PassTally) {
        var tally = PassTally()
        if let until = await conditions.blockedUntil(key) {
            return (.blocked(for: time.now.duration(to: until)), tally)
        }
        do throws(StoreFailure) {
            let found = try await store.pendingProfiles(of: key, at: time.now, limit: ProfilePass.batch)
            for pending in found {
                guard await budgets.waitForTurn(key.name, while: conditions.mayBegin) else {
                    return (.interrupted, tally)
                }
                guard try await claim(pending) else { continue }
                await slots.take()
                let isFetched = await profile.fetchPending(pending.id, caller: ProfilePass.caller)
                slots.giveBack()
                if isFetched { tally.done += 1 } else { tally.failed += 1 }
                if tally.failed > 0, tally.done == 0 { return (.troubled, tally) }
            }
            return (found.count < ProfilePass.batch ? .idle(next: nil) : .more, tally)
        } catch {
            log.warning("pending profiles could not be read", [Fact(.provider, key.name), Fact(.reason, "\(error)")])
            return (.troubled, tally)
        }
    }

    private func claim(_ pending: PendingProfile) async throws(StoreFailure) -> Bool {
        let now = time.now
        let wait = RefreshPolicy.backoff(
            afterFailures: pending.tries, spread: RefreshPolicy.spread(of: pending.id, generation: Int64(pending.tries))
        )
        return try await store.claimProfile(pending, again: now.advanced(by: wait), at: now)
    }
}
