// SPDX-License-Identifier: Apache-2.0
package import Consents
package import Observability

/// Reads one record.
package final class ReadConsent: Sendable {
    let store: any ConsentStore
    let opening: RecordOpening
    let expiry: LapsedConsents
    private let log: Log

    package init(store: any ConsentStore, vault: any TokenVault, time: any Timekeeper, log: Log) {
        self.store = store
        self.log = log
        self.opening = RecordOpening(vault: vault)
        self.expiry = LapsedConsents(store: store, time: time)
    }

    /// - Throws: `notFound`, `storeUnavailable`, `ourFault`.
    package func callAsFunction(_ id: ConsentID, withProfile: Bool = false) async throws(ConsentFailure)
        -> OpenedConsent
    {
        let stored: StoredConsent?
        do {
            stored = try await store.consent(id)
        } catch {
            log.error("a record cannot be read", [Fact(.consentID, "\(id)"), Fact(.reason, "\(error)")])
            throw .storeUnavailable
        }
        guard let stored else { throw .notFound }
        do {
            return try opening.open(await expiry.settled(stored), withProfile: withProfile)
        } catch {
            log.error("a record cannot be opened", [Fact(.consentID, "\(id)"), Fact(.reason, "\(error)")])
            throw .ourFault
        }
    }
}

/// Ends records that have no refresh token and whose access token has lapsed, when somebody meets one.
struct LapsedConsents: Sendable {
    let store: any ConsentStore
    let time: any Timekeeper

    /// The record as it stands after that; as it was where the store takes no writes.
    func settled(_ stored: StoredConsent) async -> StoredConsent {
        let now = time.now
        guard stored.record.isLapsed(at: now) else { return stored }
        let event = EventDraft(
            type: .expired, at: now, caller: "gateway", requestID: nil,
            data: ["reason": .text(StatusReason.noRefreshToken.rawValue)])
        let answer = try? await store.expire(
            stored.record.id, generation: stored.record.generation, at: now, event: event)
        if answer != nil, let read = try? await store.consent(stored.record.id) { return read }
        return stored
    }
}

extension ConsentRecord {
    /// Whether nothing is left to refresh and the access token is over.
    func isLapsed(at now: Instant) -> Bool {
        status.isGrantHeld && !isRefreshable && now >= timing.accessTokenExpiresAt
    }
}
