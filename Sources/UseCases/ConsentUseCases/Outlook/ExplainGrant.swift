// SPDX-License-Identifier: Apache-2.0
package import Consents

/// Says how a grant stands, what came of its tries, and what comes next. It changes nothing.
package struct ExplainGrant: Sendable {
    private let directory: ProviderDirectory
    private let store: any ConsentStore
    private let time: any Timekeeper

    package init(directory: ProviderDirectory, store: any ConsentStore, time: any Timekeeper) {
        self.directory = directory
        self.store = store
        self.time = time
    }

    /// - Throws: `notFound`, `storeUnavailable`.
    package func callAsFunction(_ id: ConsentID) async throws(ConsentFailure) -> GrantAccount {
        let found: StoredConsent?
        let events: [StoredEvent]
        let states: [ProviderState]
        do {
            states = try await store.providerStates()
            found = try await store.consent(id)
            events = try await store.events(of: id)
        } catch { throw .storeUnavailable }
        guard let found else { throw .notFound }
        return GrantAccount(
            record: found.record, attempt: found.attempt, standing: standing(of: found),
            events: events.filter(\.draft.type.tellsOfTokens).suffix(GrantAccount.eventsTold),
            health: states.first { $0.provider == found.record.provider }?.health, now: time.now)
    }

    private func standing(of found: StoredConsent) -> GrantAccount.Standing {
        guard let facts = directory.connection(named: found.record.provider.name)?.facts else { return .absent }
        guard facts.hasIssued(found.record) else { return .otherClient }
        return .configured(facts.policy.forGrant(hasRotated: found.hasRotated))
    }
}

extension EventType {
    /// Whether it belongs to the timeline of a grant's tokens.
    fileprivate var tellsOfTokens: Bool {
        switch self {
        case .profileFetched, .profileChanged, .profileRefused, .profileRead, .tokenRead: false
        default: true
        }
    }
}
