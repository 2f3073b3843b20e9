// SPDX-License-Identifier: Apache-2.0
package import Consents

/// Keeps a user from the consents of others: to them a record that is not their own is not there.
package struct HoldOwner: Sendable {
    private let store: any ConsentStore
    private let vault: any TokenVault

    package init(store: any ConsentStore, vault: any TokenVault) {
        self.store = store
        self.vault = vault
    }

    /// A record's subject never changes, so what is done after this is done to one's own.
    /// - Throws: `notFound` for a record that is not there and for somebody else's; `storeUnavailable`.
    package func callAsFunction(_ id: ConsentID, of subject: Subject) async throws(ConsentFailure) {
        let stored: StoredConsent?
        do { stored = try await store.consent(id) } catch { throw .storeUnavailable }
        guard let stored, stored.subjectIndex == vault.index(of: subject) else { throw .notFound }
    }
}
