// SPDX-License-Identifier: Apache-2.0
package import Consents

/// An operator's decision over the verdicts that a provider's death brake holds.
package struct DecideVerdicts: Sendable {
    private let store: any ProviderHealthStore
    private let time: any Timekeeper

    private static let part = 500

    package init(store: any ProviderHealthStore, time: any Timekeeper) {
        self.store = store
        self.time = time
    }

    /// - Returns: how many verdicts were decided.
    /// - Throws: `StoreFailure`; what was decided until then stays decided, and the rest is held.
    package func callAsFunction(_ decision: VerdictDecision, of provider: ProviderKey, caller: CallerIdentity)
        async throws(StoreFailure) -> Int
    {
        var count = 0
        while true {
            let decided = try await store.decideVerdicts(
                of: provider, as: decision, limit: DecideVerdicts.part, caller: caller.name, at: time.now)
            count += decided.count
            if !decided.isPart { return count }
        }
    }
}
