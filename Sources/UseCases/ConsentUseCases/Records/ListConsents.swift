// SPDX-License-Identifier: Apache-2.0
package import Consents

/// Lists records, newest first.
package final class ListConsents: Sendable {
    private let store: any ConsentStore
    private let vault: any TokenVault
    private let expiry: LapsedConsents

    package init(store: any ConsentStore, vault: any TokenVault, time: any Timekeeper) {
        self.store = store
        self.vault = vault
        expiry = LapsedConsents(store: store, time: time)
    }

    /// One page.
    package struct Page: Sendable {
        package var items: [OpenedConsent]
        package var next: ConsentID?
    }

    /// - Throws: `storeUnavailable`; `ourFault` where a record cannot be opened.
    package func callAsFunction(
        subject: Subject?, provider: String?, status: ConsentStatus?, before: ConsentID?, limit: Int
    ) async throws(ConsentFailure) -> Page {
        let query = ConsentQuery(
            subject: subject.map { vault.index(of: $0) }, provider: provider, status: status, before: before,
            limit: limit)
        let page: ConsentPage
        do { page = try await store.consents(query) } catch { throw .storeUnavailable }
        var items: [OpenedConsent] = []
        do {
            for stored in page.items {
                items.append(try RecordOpening(vault: vault).open(await expiry.settled(stored), withProfile: false))
            }
        } catch {
            throw .ourFault
        }
        return Page(items: items, next: page.next)
    }
}

/// Reads a consent's audit trail, oldest first.
package final class ReadEvents: Sendable {
    private let store: any ConsentStore

    package init(store: any ConsentStore) { self.store = store }

    /// - Throws: `notFound`, `storeUnavailable`.
    package func callAsFunction(_ id: ConsentID) async throws(ConsentFailure) -> [StoredEvent] {
        let events: [StoredEvent]
        do { events = try await store.events(of: id) } catch { throw .storeUnavailable }
        // Every record has at least the event of its making.
        guard !events.isEmpty else { throw .notFound }
        return events
    }
}
