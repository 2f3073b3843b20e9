// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeSystem
package import Observability

/// Withdraws a consent: the grant is closed and its tokens and attributes are destroyed at once, whatever the provider
/// says later; what is to be revoked there goes to the outbox in the same transaction.
package final class WithdrawConsent: Sendable {
    private let store: any ConsentStore
    private let vault: any TokenVault
    private let withdrawn: any WithdrawnList
    private let time: any Timekeeper
    private let entropy: any Entropy
    private let log: Log
    /// Listed as withdrawn by this process, and not yet so in the store.
    private let unfinished = Locked<[ConsentID: (reason: StatusReason, caller: CallerIdentity)]>([:])

    package init(
        store: any ConsentStore, vault: any TokenVault, withdrawn: any WithdrawnList, time: any Timekeeper,
        entropy: any Entropy, log: Log
    ) {
        self.store = store
        self.vault = vault
        self.withdrawn = withdrawn
        self.time = time
        self.entropy = entropy
        self.log = log
    }

    /// - Parameter reason: `user` or `operator`.
    /// - Returns: the record as it is then; the same for one that was withdrawn before.
    /// - Throws: `notFound`, `storeUnavailable`, `ourFault`; `consentEnded` for one that a newer record has superseded.
    package func callAsFunction(_ id: ConsentID, reason: StatusReason, caller: CallerIdentity)
        async throws(ConsentFailure) -> OpenedConsent
    {
        let status = try await stored(id).record.status
        if status != .revoked && status != .superseded { try await list(id, reason) }
        do throws(ConsentFailure) { try await again(id, reason: reason, caller: caller) } catch {
            if error == .storeUnavailable { setAside(id, reason, caller) }
            throw error
        }
        return try await ReadConsent(store: store, vault: vault, time: time, log: log)(id)
    }

    /// Withdraws what was listed while the store took no writes. Whoever asked was told that it is not done yet; as it is
    /// somebody's wish, it does not wait until they ask again.
    package func finish() async {
        for (id, wish) in unfinished.withLock({ $0 }) {
            do throws(ConsentFailure) {
                try await again(id, reason: wish.reason, caller: wish.caller)
                log.notice("a withdrawal that the store did not take was done", [Fact(.consentID, "\(id)")])
            } catch .storeUnavailable {
                return
            } catch {
                log.error("a listed withdrawal cannot be done", [Fact(.consentID, "\(id)"), Fact(.reason, "\(error)")])
            }
            unfinished.withLock { $0[id] = nil }
        }
    }

    /// So many are remembered; others wait until they are asked for again.
    private static let mostUnfinished = 10_000

    private func setAside(_ id: ConsentID, _ reason: StatusReason, _ caller: CallerIdentity) {
        log.warning("a withdrawal is listed and waits for the store", [Fact(.consentID, "\(id)")])
        unfinished.withLock { if $0.count < WithdrawConsent.mostUnfinished { $0[id] = (reason, caller) } }
    }

    /// Withdraws what the list of withdrawals has already.
    func again(_ id: ConsentID, reason: StatusReason, caller: CallerIdentity) async throws(ConsentFailure) {
        for _ in 0..<8 {
            switch try await withdraw(try await stored(id), reason, caller) {
            case .withdrawn, .alreadyRevoked: return
            case .superseded: throw .consentEnded(.superseded)
            case .absent: throw .notFound
            case .generationMoved: continue
            }
        }
        throw .storeUnavailable
    }

    private func stored(_ id: ConsentID) async throws(ConsentFailure) -> StoredConsent {
        let stored: StoredConsent?
        do { stored = try await store.consent(id) } catch { throw .storeUnavailable }
        guard let stored else { throw .notFound }
        return stored
    }

    /// Before the store has it, so that no withdrawal that was answered is missing in the list; what is listed and then
    /// does not come to pass is withdrawn at the next acceptance of a copy, as somebody wished.
    private func list(_ id: ConsentID, _ reason: StatusReason) async throws(ConsentFailure) {
        do throws(StateFailure) {
            try await withdrawn.append(vault.digest(of: GrantEnd(reason), id), at: time.now)
        } catch {
            log.error("a withdrawal could not be listed in the state folder", [Fact(.reason, "\(error)")])
            throw .storeUnavailable
        }
    }

    private func withdraw(_ stored: StoredConsent, _ reason: StatusReason, _ caller: CallerIdentity)
        async throws(ConsentFailure) -> WithdrawAnswer
    {
        let now = time.now
        let event = EventDraft(
            type: .revoked, at: now, caller: caller.name, requestID: caller.requestID,
            data: ["reason": .text(reason.rawValue)])
        do {
            let drafts = RevocationDrafts(vault: vault, entropy: entropy)
            let withdrawal = Withdrawal(
                id: stored.record.id, expectedGeneration: stored.record.generation, reason: reason, at: now,
                event: event, revocations: try drafts.drafts(of: stored, reason: .withdrawal, at: now))
            return try await store.withdraw(withdrawal)
        } catch let failure as StoreFailure {
            throw failure.mayPass ? .storeUnavailable : .ourFault
        } catch {
            log.error("a consent's tokens cannot be opened for revocation", [Fact(.reason, "\(error)")])
            throw .ourFault
        }
    }
}

/// Makes outbox entries of tokens: the refresh token first, then the access token.
struct RevocationDrafts: Sendable {
    let vault: any TokenVault
    let entropy: any Entropy

    /// The tokens that a record holds; none where they are destroyed already.
    func drafts(of stored: StoredConsent, reason: RevocationReason, at now: Instant) throws(VaultFailure)
        -> [RevocationDraft]
    {
        guard let envelope = stored.key, let sealed = stored.tokens else { return [] }
        let key = try vault.openConsentKey(envelope, for: stored.record.id)
        let tokens = try vault.openTokens(sealed, generation: stored.record.generation, under: key)
        let own = try drafts(of: tokens, record: stored.record, reason: reason, at: now)
        guard let spare = stored.spare else { return own }
        // A line of its own at the provider; where it cannot be opened there is nothing that could be revoked.
        guard let others = try? vault.openTokens(spare.sealed, generation: spare.generation, under: key) else {
            return own
        }
        return own
            + (try drafts(of: others, record: stored.record, reason: reason, at: now.advanced(by: .milliseconds(2))))
    }

    func drafts(of tokens: TokenSet, record: ConsentRecord, reason: RevocationReason, at now: Instant)
        throws(VaultFailure) -> [RevocationDraft]
    {
        var drafts: [RevocationDraft] = []
        let kinds: [(TokenKind, SecretText?)] = [
            (.refreshToken, tokens.refreshToken), (.accessToken, tokens.accessToken),
        ]
        for (order, (kind, token)) in kinds.enumerated() {
            guard let token else { continue }
            // A millisecond apart, so that the order of the identifiers is the order of delivery.
            let id = entropy.identifier(at: now.advanced(by: .milliseconds(order)))
            drafts.append(
                RevocationDraft(
                    id: id, provider: record.provider, clientID: record.issuer.clientID, consent: record.id,
                    kind: kind, reason: reason, token: try vault.sealToken(token, outbox: id)))
        }
        return drafts
    }
}
