// SPDX-License-Identifier: Apache-2.0
import ConsentUseCases
import Consents
import RefreshSchedule
import Settings

extension Gateway {
    /// What is done without anybody asking.
    /// - Parameter mayBegin: false from when the process drains.
    func backgroundWork(_ place: Workplace, mayBegin: @escaping @Sendable () -> Bool) -> BackgroundWork {
        let parts = BackgroundWork.Parts(
            directory: directory, store: store, refresh: refresh, profile: profile, redeem: redeem,
            deliverRevocations: deliverRevocations, budgets: budgets, time: place.time, log: place.log)
        let rules = BackgroundWork.Rules(
            isRefreshing: place.settings.refresh.isEnabled, concurrency: place.settings.refresh.concurrency,
            retention: RetentionRules(place.settings.retention))
        return BackgroundWork(
            parts, rules,
            PassConditions(mayBegin: mayBegin) { [epoch, store, time = place.time] provider in
                let now = time.now
                // A store that came back from a copy: an operator decides.
                if await epoch.stop != nil { return now.advanced(by: .seconds(10)) }
                return try? await store.blockedProviders(at: now)[provider]?.until
            })
    }
}

extension RetentionRules {
    init(_ settings: RetentionSettings) {
        self.init(
            records: settings.records, evidence: settings.evidence,
            reauthorizationRequired: settings.reauthorizationRequired, exchanges: settings.exchanges)
    }
}

extension ProviderBudgets {
    convenience init(of providers: [ProviderSettings], time: any Timekeeper) {
        var budgets: [String: RateBudget] = [:]
        for provider in providers {
            guard let rate = provider.rateLimit else { continue }
            budgets[provider.name] = RateBudget(count: rate.count, per: rate.period, at: time.monotonic)
        }
        self.init(budgets, time: time)
    }
}
