// SPDX-License-Identifier: Apache-2.0
/// The calls to come, counted by the minute: each grant's due times under its provider's plan, where every refresh is
/// taken to succeed and to bring the lives that the last one brought. Its size does not depend on how many grants go
/// into it.
package struct CallForecast: Sendable {
    private struct Demand: Sendable {
        let policy: RefreshPolicy
        let limit: CallBudget?
        var grants = 0
        var asked: [Int]
    }

    package let from: Instant
    package let minutes: Int
    private var demands: [Demand] = []
    private var keys: [ProviderKey] = []
    private var places: [ProviderKey: Int] = [:]
    /// Grants whose provider is not in the configuration.
    package private(set) var unplanned = 0

    /// - Parameters:
    ///   - limits: what the providers take in all; background work may have a part of it.
    package init(
        from now: Instant, minutes: Int, policies: [ProviderKey: RefreshPolicy], limits: [ProviderKey: CallBudget]
    ) {
        from = now
        self.minutes = minutes
        for key in policies.keys.sorted(by: { ($0.name, $0.environment ?? "") < ($1.name, $1.environment ?? "") }) {
            guard let policy = policies[key] else { continue }
            places[key] = demands.count
            keys.append(key)
            demands.append(
                Demand(policy: policy, limit: limits[key], asked: [Int](repeating: 0, count: minutes)))
        }
    }

    package mutating func add(_ grant: PlannedGrant) {
        guard let place = places[grant.provider] else { return unplanned += 1 }
        let policy = demands[place].policy
        demands[place].grants += 1
        guard var due = policy.believedDue(grant.timing, at: from).map({ max($0, from) }) else { return }
        let accessLife = grant.timing.accessLife
        let refreshLife = policy.refreshTokenLife(grant.timing)?.length
        var generation = grant.generation
        while true {
            let minute = (due.milliseconds - from.milliseconds) / 60_000
            if minute >= Int64(minutes) { return }
            demands[place].asked[Int(minute)] += 1
            generation &+= 1
            let next = policy.dueTime(
                issuedAt: due, accessLife: accessLife, refreshLife: refreshLife,
                spread: RefreshPolicy.spread(of: grant.id, generation: generation))
            guard let next else { return }
            due = max(next, due.advanced(by: RefreshPolicy.leastBetweenRefreshes))
        }
    }

    /// What becomes of it under each provider's rate limit, by name.
    package var providers: [ProviderForecast] {
        zip(keys, demands).map { key, demand in
            ProviderForecast(key: key, grants: demand.grants, asked: demand.asked, limit: demand.limit)
        }
    }
}

/// One provider's calls, minute by minute.
package struct ProviderForecast: Sendable, Equatable {
    package let key: ProviderKey
    package let grants: Int
    /// Calls a minute that background work may make; nil is no limit.
    package let limitPerMinute: Double?
    /// Grants that fall due.
    package let asked: [Int]
    /// Calls that the limit lets through.
    package let calls: [Int]
    /// Grants that are due and wait at the minute's end.
    package let waiting: [Int]

    /// What waits goes before what comes.
    package init(key: ProviderKey, grants: Int, asked: [Int], limit: CallBudget?) {
        self.key = key
        self.grants = grants
        self.asked = asked
        limitPerMinute = limit?.backgroundCallsPerMinute
        guard let perMinute = limitPerMinute else {
            calls = asked
            waiting = asked.map { _ in 0 }
            return
        }
        var (calls, waiting): ([Int], [Int]) = ([], [])
        var allowed = 0.0
        for count in asked {
            allowed += perMinute
            let wanted = (waiting.last ?? 0) + count
            let made = min(wanted, Int(allowed))
            // What nobody wanted is not kept, but for the part of a first call.
            allowed = min(allowed - Double(made), made < wanted ? 1 : max(0, 1 - perMinute))
            calls.append(made)
            waiting.append(wanted - made)
        }
        self.calls = calls
        self.waiting = waiting
    }

    package var total: Int { calls.reduce(0, +) }
    /// The minute with the most calls, the first of them; nil where there are none.
    package var peak: (minute: Int, calls: Int)? {
        guard let most = calls.max(), most > 0 else { return nil }
        return calls.firstIndex(of: most).map { ($0, most) }
    }
    package var mostWaiting: Int { waiting.max() ?? 0 }
}
