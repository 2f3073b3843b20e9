// SPDX-License-Identifier: Apache-2.0
package import Consents
package import Observability

/// Hands an access token to a caller who may have it; refreshed first where too little of its life is left.
package final class HandOutAccessToken: Sendable {
    private let directory: ProviderDirectory
    private let store: any ConsentStore
    private let vault: any TokenVault
    private let time: any Timekeeper
    private let refresh: RefreshConsent
    private let log: Log

    package init(
        directory: ProviderDirectory, store: any ConsentStore, vault: any TokenVault, time: any Timekeeper,
        refresh: RefreshConsent, log: Log
    ) {
        self.directory = directory
        self.store = store
        self.vault = vault
        self.time = time
        self.refresh = refresh
        self.log = log
    }

    /// What the caller gets.
    package struct Handout: Sendable {
        package var accessToken: SecretText
        package var tokenType: String
        package var expiresAt: Instant
        package var scopes: ScopeSet
    }

    /// - Parameters:
    ///   - minimumLife: how much of its life must be left; cut to half its lifetime.
    ///   - rejected: SHA-256 of a token that a resource refused, in lower-case hexadecimal: that one is refreshed.
    /// - Throws: `accessTokensOff`; `notFound`; `consentEnded`, `reauthorizationRequired`; what a refresh throws where
    ///   no valid token is held; `storeUnavailable` where the reading cannot be written down.
    package func callAsFunction(
        _ id: ConsentID, minimumLife: Duration, rejected: String?, caller: CallerIdentity
    ) async throws(ConsentFailure) -> Handout {
        var held = try await heldToken(id)
        if held.needsRefresh(at: time.now, minimumLife: minimumLife, rejected: rejected, vault) {
            do throws(ConsentFailure) {
                _ = try await refresh(id, caller: caller)
                held = try await heldToken(id)
            } catch {
                // A token that works is handed out though no better one came; one that was rejected is not.
                let isGood = held.isValid(at: time.now) && !held.wasRejected(rejected, vault)
                guard isGood, !error.endsGrant else { throw error }
            }
        }
        guard held.isValid(at: time.now) else { throw .reauthorizationRequired(.noRefreshToken) }
        let tell = TellReading(store: store, time: time, log: log)
        guard try await tell(.tokenRead, of: id, by: caller) else {
            // It ended between the two: asked again, it says how.
            let record = try await heldToken(id).record
            throw .reauthorizationRequired(record.statusReason)
        }
        return held.handout
    }

    private func heldToken(_ id: ConsentID) async throws(ConsentFailure) -> HeldToken {
        let found: StoredConsent?
        do { found = try await store.consent(id) } catch { throw .storeUnavailable }
        guard let found else { throw .notFound }
        let stored = await LapsedConsents(store: store, time: time).settled(found)
        guard directory.connection(named: stored.record.provider.name)?.facts.handsOutAccessTokens == true else {
            throw .accessTokensOff
        }
        switch stored.record.status {
        case .active, .failing: break
        case .reauthorizationRequired: throw .reauthorizationRequired(stored.record.statusReason)
        case .superseded, .expired, .revoked: throw .consentEnded(stored.record.status)
        }
        do {
            guard let envelope = stored.key, let sealed = stored.tokens else { throw VaultFailure.unreadable }
            let key = try vault.openConsentKey(envelope, for: id)
            let tokens = try vault.openTokens(sealed, generation: stored.record.generation, under: key)
            return HeldToken(record: stored.record, tokens: tokens)
        } catch {
            log.error("a grant cannot be opened", [Fact(.consentID, "\(id)"), Fact(.reason, "\(error)")])
            throw .ourFault
        }
    }
}

/// An access token that is held, and how long for.
private struct HeldToken {
    let record: ConsentRecord
    let tokens: TokenSet

    var handout: HandOutAccessToken.Handout {
        HandOutAccessToken.Handout(
            accessToken: tokens.accessToken, tokenType: tokens.tokenType,
            expiresAt: record.timing.accessTokenExpiresAt, scopes: record.granted)
    }

    func isValid(at now: Instant) -> Bool { now < record.timing.accessTokenExpiresAt }

    func wasRejected(_ digest: String?, _ vault: any TokenVault) -> Bool {
        digest.map { $0 == vault.fingerprint(of: tokens.accessToken) } ?? false
    }

    func needsRefresh(at now: Instant, minimumLife: Duration, rejected: String?, _ vault: any TokenVault) -> Bool {
        guard record.isRefreshable else { return false }
        if wasRejected(rejected, vault) { return true }
        let timing = record.timing
        let life = timing.issuedAt.duration(to: timing.accessTokenExpiresAt)
        return now.duration(to: timing.accessTokenExpiresAt) < min(minimumLife, life / 2)
    }
}

extension ConsentFailure {
    /// Whether it says that the grant is over.
    fileprivate var endsGrant: Bool {
        switch self {
        case .notFound, .consentEnded, .reauthorizationRequired: true
        default: false
        }
    }
}
