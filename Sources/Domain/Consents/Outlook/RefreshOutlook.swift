// SPDX-License-Identifier: Apache-2.0
/// Who will be refreshed when and why, and what an outage would cost: counts, and a few names. Its size does not depend
/// on how many grants go into it.
package struct RefreshOutlook: Sendable {
    /// One provider's grants.
    package struct Provider: Sendable, Equatable {
        package let key: ProviderKey
        /// Nil where the configuration has no such provider: its grants are not refreshed.
        package let policy: RefreshPolicy?
        package fileprivate(set) var grants = 0
        package fileprivate(set) var dueNow = 0
        /// Those that fall due in each hour of the clock, the current one first.
        package fileprivate(set) var hours = [Int](repeating: 0, count: RefreshOutlook.hourCount)
        package fileprivate(set) var later = 0
        package fileprivate(set) var onDemand = 0
        package fileprivate(set) var reasons: [DueReason: Int] = [:]
        /// Those whose refresh token ends within each of ``outages``.
        package fileprivate(set) var endings = [Int](repeating: 0, count: RefreshOutlook.outages.count)
        package fileprivate(set) var withKnownEnd = 0
        package fileprivate(set) var shortestLife: Duration?

        /// The interval, where a told life of a refresh token is less than twice as long: its grants live by their told
        /// end alone, and one that comes without it would lapse.
        package var unsafeInterval: Duration? {
            guard let policy, policy.kind == .keepAlive, let shortestLife, policy.interval > shortestLife / 2 else {
                return nil
            }
            return policy.interval
        }
    }

    /// A grant whose refresh token ends soon.
    package struct Ending: Sendable, Equatable {
        package let id: ConsentID
        package let provider: ProviderKey
        package let dueAt: Instant?
        package let life: RefreshTokenLife
    }

    package static let hourCount = 24
    /// Lengths of an outage that is looked at, from now on.
    package static let outages: [Duration] = [1, 6, 24, 3 * 24, 7 * 24, 30 * 24].map { .seconds($0 * 3600) }
    /// How many endings are named.
    package static let endingsNamed = 20

    package let now: Instant
    private let policies: [ProviderKey: RefreshPolicy]
    private var byKey: [ProviderKey: Provider] = [:]
    /// Soonest first.
    package private(set) var endingFirst: [Ending] = []

    package init(at now: Instant, policies: [ProviderKey: RefreshPolicy]) {
        self.now = now
        self.policies = policies
        for (key, policy) in policies { byKey[key] = Provider(key: key, policy: policy) }
    }

    /// By name.
    package var providers: [Provider] {
        byKey.values.sorted { ($0.key.name, $0.key.environment ?? "") < ($1.key.name, $1.key.environment ?? "") }
    }

    package mutating func add(_ grant: PlannedGrant) {
        let policy = policies[grant.provider]
        var provider = byKey.removeValue(forKey: grant.provider) ?? Provider(key: grant.provider, policy: nil)
        provider.grants += 1
        if let policy {
            let due = policy.believedDue(grant.timing, at: now)
            count(due, in: &provider)
            let reason = policy.reason(
                of: grant.timing, status: grant.status, isInDoubt: grant.isInDoubt, id: grant.id,
                generation: grant.generation)
            provider.reasons[reason, default: 0] += 1
            if let life = policy.refreshTokenLife(grant.timing) {
                count(life, in: &provider)
                name(Ending(id: grant.id, provider: grant.provider, dueAt: due, life: life))
            }
        }
        byKey[grant.provider] = provider
    }

    private func count(_ due: Instant?, in provider: inout Provider) {
        guard let due else { return provider.onDemand += 1 }
        if due <= now { return provider.dueNow += 1 }
        let hour = due.hour - now.hour
        if hour < Int64(RefreshOutlook.hourCount) { provider.hours[Int(hour)] += 1 } else { provider.later += 1 }
    }

    private func count(_ life: RefreshTokenLife, in provider: inout Provider) {
        provider.withKnownEnd += 1
        provider.shortestLife = min(provider.shortestLife ?? life.length, life.length)
        for (place, outage) in RefreshOutlook.outages.enumerated() where life.end <= now.advanced(by: outage) {
            provider.endings[place] += 1
        }
    }

    private mutating func name(_ ending: Ending) {
        let isFull = endingFirst.count == RefreshOutlook.endingsNamed
        if isFull, let last = endingFirst.last, last.life.end <= ending.life.end { return }
        let place = endingFirst.firstIndex { $0.life.end > ending.life.end } ?? endingFirst.count
        endingFirst.insert(ending, at: place)
        if isFull { endingFirst.removeLast() }
    }
}

extension Instant {
    /// Hours of the clock since 1970.
    var hour: Int64 { milliseconds / 3_600_000 - (milliseconds % 3_600_000 < 0 ? 1 : 0) }
}
