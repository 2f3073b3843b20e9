// SPDX-License-Identifier: Apache-2.0
package import Consents
package import Observability

/// Tells of each provider's state when it changes, and lets the failing grants of one that has recovered come due,
/// spread over time. Safe beside other instances that do the same.
package actor WatchProviders {
    private let store: any ProviderHealthStore
    private let time: any Timekeeper
    private let log: Log
    private let spacing: [String: Duration]
    /// What was told last, by provider.
    private var told: [ProviderKey: Set<BlockReason>] = [:]

    /// Failing grants made due in one transaction.
    private static let part = 500

    /// - Parameter spacing: the time between two refreshes of a provider's backlog, by its configured name.
    package init(
        store: any ProviderHealthStore, time: any Timekeeper, log: Log, spacing: [String: Duration]
    ) {
        self.store = store
        self.time = time
        self.log = log
        self.spacing = spacing
    }

    /// One look at all of them. A store that does not answer is left for the next.
    package func callAsFunction() async {
        guard let states = try? await store.providerStates() else { return }
        var found: [ProviderKey: Set<BlockReason>] = [:]
        for state in states { found[state.provider] = state.conditions(at: time.now) }
        for provider in Set(told.keys).union(found.keys) {
            let (before, after) = (told[provider] ?? [], found[provider] ?? [])
            for reason in BlockReason.allCases where after.contains(reason) != before.contains(reason) {
                tell(provider, reason, isOn: after.contains(reason), states.first { $0.provider == provider })
            }
        }
        told = found.filter { !$0.value.isEmpty }
        for state in states where state.health.recoverySince != nil { await spread(state.provider) }
    }

    private func tell(_ provider: ProviderKey, _ reason: BlockReason, isOn: Bool, _ state: ProviderState?) {
        let facts = [Fact(.provider, provider.name), Fact(.reason, reason.rawValue)]
        guard isOn else { return log.notice("a provider's calls go on", facts) }
        switch reason {
        case .gate: log.warning("a provider takes no calls for a while: nobody calls it until then", facts)
        case .breaker:
            let word = state?.health.breaker?.reason == .unknown ? "unknown" : "unreachable"
            log.warning(
                "a provider's calls go wrong: one trial at a time goes out until one succeeds",
                facts + [Fact(.outcome, word)])
        case .pause:
            log.error(
                "a provider refuses our credentials: it is paused, one trial a minute goes out; no grant is touched",
                facts)
        case .brake:
            log.error(
                "a provider declares most grants dead: its verdicts are held until a trial or `incidents` decides",
                facts)
        }
    }

    private func spread(_ provider: ProviderKey) async {
        let spacing = spacing[provider.name] ?? .milliseconds(25)
        var start = time.now
        var after: ConsentID?
        var count = 0
        repeat {
            guard
                let part = try? await store.spreadFailing(
                    of: provider, after: after, from: start, spacing: spacing, limit: WatchProviders.part,
                    at: time.now)
            else { return }
            count += part.count
            start = start.advanced(by: spacing * part.count)
            after = part.next
        } while after != nil
        log.notice(
            "a provider has recovered: its failing grants are due again, one after the other",
            [Fact(.provider, provider.name), Fact(.count, count)])
    }
}

extension ProviderState {
    /// What stands in the way of calls.
    package func conditions(at now: Instant) -> Set<BlockReason> {
        var found: Set<BlockReason> = []
        if case .blocked(_, .gate) = health.permit(.refresh, at: now) { found.insert(.gate) }
        if health.breaker != nil { found.insert(.breaker) }
        if health.pause != nil { found.insert(.pause) }
        if health.brakeSince != nil || heldVerdicts > 0 { found.insert(.brake) }
        return found
    }
}
