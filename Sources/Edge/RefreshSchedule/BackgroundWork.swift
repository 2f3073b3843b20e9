// SPDX-License-Identifier: Apache-2.0
package import ConsentUseCases
package import Consents
package import Observability

/// All that is done without anybody asking, one pass at a time: the scheduler's in `serve`, and `job`'s.
package final class BackgroundWork: Sendable {
    /// What the passes work with.
    package struct Parts: Sendable {
        package var directory: ProviderDirectory
        package var store: any DueRefreshes & PendingProfiles & Retention
        package var refresh: RefreshConsent
        package var profile: ReadProfile
        package var redeem: RedeemCode
        package var deliverRevocations: DeliverRevocations
        package var budgets: ProviderBudgets
        package var time: any Timekeeper
        package var log: Log

        package init(
            directory: ProviderDirectory, store: any DueRefreshes & PendingProfiles & Retention,
            refresh: RefreshConsent, profile: ReadProfile, redeem: RedeemCode,
            deliverRevocations: DeliverRevocations, budgets: ProviderBudgets, time: any Timekeeper, log: Log
        ) {
            self.directory = directory
            self.store = store
            self.refresh = refresh
            self.profile = profile
            self.redeem = redeem
            self.deliverRevocations = deliverRevocations
            self.budgets = budgets
            self.time = time
            self.log = log
        }
    }

    /// What is to be done at all.
    package struct Rules: Sendable {
        /// Whether grants are refreshed and profiles fetched without anybody asking.
        package var isRefreshing: Bool
        /// Background calls at once, over all providers.
        package var concurrency: Int
        package var retention: RetentionRules

        package init(isRefreshing: Bool, concurrency: Int, retention: RetentionRules) {
            self.isRefreshing = isRefreshing
            self.concurrency = concurrency
            self.retention = retention
        }
    }

    /// What passes did.
    package struct Done: Sendable {
        package var refreshes = PassTally()
        package var profiles = PassTally()
        /// Deliveries that were tried.
        package var revocations = 0
        package var adopted = Adoption(grants: 0, codesNamedUnknown: 0, refreshesNamedUnknown: 0)
        package var retention: [RetentionStep: Int] = [:]

        package static func += (left: inout Done, right: Done) {
            left.refreshes += right.refreshes
            left.profiles += right.profiles
            left.revocations += right.revocations
            left.adopted.grants += right.adopted.grants
            left.adopted.codesNamedUnknown += right.adopted.codesNamedUnknown
            left.adopted.refreshesNamedUnknown += right.adopted.refreshesNamedUnknown
            left.retention.merge(right.retention, uniquingKeysWith: +)
        }
    }

    private let parts: Parts
    private let rules: Rules
    private let conditions: PassConditions
    private let refreshPasses: [ProviderKey: RefreshPass]
    private let profilePasses: [ProviderKey: ProfilePass]

    private static let deliveries = 64

    package init(_ parts: Parts, _ rules: Rules, _ conditions: PassConditions) {
        self.parts = parts
        self.rules = rules
        self.conditions = conditions
        let slots = RefreshSlots(rules.concurrency)
        let facts = parts.directory.all.map(\.facts)
        let share = RefreshSlots.share(of: rules.concurrency, among: facts.count)
        var refreshPasses: [ProviderKey: RefreshPass] = [:]
        var profilePasses: [ProviderKey: ProfilePass] = [:]
        for one in facts where rules.isRefreshing {
            refreshPasses[one.key] = RefreshPass(
                facts: one, refresh: parts.refresh, store: parts.store, slots: slots, share: share,
                budgets: parts.budgets, time: parts.time, log: parts.log)
            profilePasses[one.key] = ProfilePass(
                key: one.key, profile: parts.profile, store: parts.store, slots: slots, budgets: parts.budgets,
                time: parts.time, log: parts.log)
        }
        self.refreshPasses = refreshPasses
        self.profilePasses = profilePasses
    }

    /// False from when the process drains.
    var mayBegin: Bool { conditions.mayBegin() }

    /// Every kind of work that there is, what keeps answers first.
    package var works: [ScheduledWork] {
        let keys = refreshPasses.keys.sorted { $0.name < $1.name }
        return [.adoption] + keys.map(ScheduledWork.refreshes) + keys.map(ScheduledWork.profiles)
            + [.revocations, .retention]
    }

    /// One pass.
    /// - Parameter isProbing: whether the work had trouble last: then one call is tried first.
    package func pass(_ work: ScheduledWork, isProbing: Bool) async -> (end: PassEnd, done: Done) {
        var done = Done()
        guard conditions.mayBegin() else { return (.interrupted, done) }
        switch work {
        case .refreshes(let key):
            guard let pass = refreshPasses[key] else { return (.idle(next: nil), done) }
            let ended = await pass.run(isProbing: isProbing, conditions)
            done.refreshes = ended.tally
            return (ended.end, done)
        case .profiles(let key):
            guard let pass = profilePasses[key] else { return (.idle(next: nil), done) }
            let ended = await pass.run(conditions)
            done.profiles = ended.tally
            return (ended.end, done)
        case .revocations:
            do throws(StoreFailure) {
                done.revocations = try await parts.deliverRevocations(limit: BackgroundWork.deliveries)
                return (done.revocations < BackgroundWork.deliveries ? .idle(next: nil) : .more, done)
            } catch {
                parts.log.warning("the revocation outbox could not be seen to", [Fact(.reason, "\(error)")])
                return (.troubled, done)
            }
        case .adoption:
            done.adopted = await parts.redeem.adoptAbandoned()
            return (.idle(next: nil), done)
        case .retention:
            let pass = RetentionPass(
                store: parts.store, rules: rules.retention, time: parts.time, log: parts.log)
            let ended = await pass.run(conditions)
            done.retention = ended.done
            return (ended.end, done)
        }
    }
}
