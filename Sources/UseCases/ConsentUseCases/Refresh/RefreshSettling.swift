// SPDX-License-Identifier: Apache-2.0
import Consents
import Observability

/// What follows a refresh's answer: save first, then check and enrich; a failure is written only where the row is still
/// ours.
///
/// An object, for what it holds would lie in the async frame of each of its steps.
final class RefreshSettling: Sendable {
    let flight: RefreshFlight
    let grant: OpenGrant
    let claim: RefreshClaim
    let caller: CallerIdentity
    let health: HealthNote

    init(
        flight: RefreshFlight, grant: OpenGrant, claim: RefreshClaim, caller: CallerIdentity, health: HealthNote
    ) {
        self.flight = flight
        self.grant = grant
        self.claim = claim
        self.caller = caller
        self.health = health
    }

    var persistence: StorePersistence { StorePersistence(time: flight.time) }

    func save(_ answer: TokenAnswer, issuedAt: Instant) async -> RefreshFlight.Outcome {
        do {
            let tokens = merged(answer.tokens)
            let write = try tokenWrite(tokens, answer, issuedAt: issuedAt)
            let limit = grant.connection.facts.timeouts.answer
            let kept = try await flight.keeping.keep(journaled(write, tokens, answer), for: limit) {
                () async throws(StoreFailure) in
                try await flight.store.saveTokens(write)
            }
            if let secret = grant.connection.takeProvenSecret() {
                let tell = TellProvenSecret(store: flight.store, time: flight.time, log: flight.log)
                await tell(secret, of: grant.known.provider)
            }
            switch kept {
            case .stored(.written), .stored(.alreadyWritten), .stored(.verdictHeld):
                if case .same(let told) = await person(of: answer, with: tokens, saved: write) {
                    await enrich(write, accessToken: answer.tokens.accessToken, told)
                }
                return .success(
                    RefreshedGrant(id: write.id, generation: claim.generation + 1, nextAt: write.timing.dueAt))
            case .stored(.generationMoved):
                flight.metrics.count(.leasesLost, [grant.known.provider.name])
                flight.log.warning("another refresh of the grant was saved first; these tokens are kept apart", facts)
            case .stored(.ended):
                await revoke(answer.tokens)
            // The tokens are safe: they are in the record once the store takes writes again.
            case .journaled: return .failure(.storeUnavailable)
            }
            return try await current()
        } catch let failure as ConsentFailure {
            return .failure(failure)
        } catch {
            flight.log.error("refreshed tokens could not be committed", facts + [Fact(.reason, "\(error)")])
            return .failure(.storeUnavailable)
        }
    }

    /// The grant is over, unless somebody else's tokens are there by now.
    func end(_ statement: ProviderStatement) async -> RefreshFlight.Outcome {
        if grant.wasOver {
            let reason = grant.known.statusReason ?? .providerRejected
            let failed: EventData = ["failure": .text("reauthorization_required")]
            let data = failed.merging(described(statement)) { $1 }
            return await settle(
                .released, .reauthorizationRequired(reason), [event(.refreshFailed, data: data).ofForcedTry])
        }
        let wasUnknown = grant.known.attempt != nil && grant.policy.reuse != .fixed
        let reason: StatusReason =
            await isOfCopy() ? .restoredBackup : wasUnknown ? .ambiguousRotation : .providerRejected
        let why: EventData = ["reason": .text(reason.rawValue)]
        let data = why.merging(described(statement)) { first, _ in first }
        return await settle(
            .over(reason), .reauthorizationRequired(reason), [event(.reauthorizationRequired, data: data)])
    }

    /// Whether the tokens came back from a copy and were never refreshed since.
    private func isOfCopy() async -> Bool {
        guard let acceptedAt = try? await flight.store.life().acceptedAt else { return false }
        return grant.known.timing.issuedAt < acceptedAt
    }

    func settle(_ change: RefreshSettlement.Change, _ failure: ConsentFailure) async -> RefreshFlight.Outcome {
        let failed = event(.refreshFailed, data: ["failure": .text(failure.word)])
        if grant.wasOver { return await settle(change, failure, [failed.ofForcedTry]) }
        // A provider's trouble is none of the grant's, but may outlast it.
        let warnings = await warning().map { [$0] } ?? []
        switch change {
        case .released, .deferred: return await settle(change, failure, warnings)
        case .failing, .unknown, .over: return await settle(change, failure, [failed] + warnings)
        }
    }

    /// Tells once a generation that a refresh token nears its end while tries fail. Where the store does not say whether
    /// it was told, the next failure tells.
    private func warning() async -> EventDraft? {
        let timing = grant.known.timing
        guard let life = grant.connection.facts.policy.refreshTokenLife(timing), flight.time.now >= life.warnsAt,
            let events = try? await flight.store.events(of: claim.id),
            !events.contains(where: { $0.draft.type == .reauthorizationSoon && $0.draft.at >= timing.issuedAt })
        else { return nil }
        return event(.reauthorizationSoon, data: ["refresh_token_ends_at": .integer(life.end.milliseconds)])
    }

    private func settle(
        _ change: RefreshSettlement.Change, _ failure: ConsentFailure, _ events: [EventDraft]
    ) async -> RefreshFlight.Outcome {
        var settlement = RefreshSettlement(
            id: claim.id, generation: claim.generation, attempt: claim.attempt, change: change, at: flight.time.now,
            events: events)
        settlement.health = health
        settlement.dueIfHeld = grant.policy.nextTry(
            of: grant.known, sentAt: claim.at, at: settlement.at)
        do {
            let answer = try await persistence.insist(for: .seconds(30)) { () async throws(StoreFailure) in
                try await flight.store.settleRefresh(settlement)
            }
            if health.event != .nothing { await flight.watch() }
            if answer == .generationMoved {
                flight.metrics.count(.leasesLost, [grant.known.provider.name])
                return try await current()
            }
            if answer == .verdictHeld {
                flight.log.warning("a provider's word that a grant is over is held", facts)
                return .failure(.providerUnavailable(retryAfter: HealthLimits.trialInterval, nil))
            }
        } catch {
            flight.log.error("the store did not take a refresh's outcome", facts + [Fact(.reason, "\(error)")])
        }
        flight.log.warning("a refresh failed", facts + [Fact(.outcome, failure.word)])
        return .failure(failure)
    }

    /// An answer without a new refresh token keeps the old one.
    private func merged(_ answered: TokenSet) -> TokenSet {
        var tokens = answered
        tokens.refreshToken = tokens.refreshToken ?? grant.refreshToken
        // What the first one has told stays; this one is only held against it.
        tokens.idToken = grant.tokens.idToken
        tokens.nonce = grant.tokens.nonce
        return tokens
    }

    private func tokenWrite(_ tokens: TokenSet, _ answer: TokenAnswer, issuedAt: Instant) throws(VaultFailure)
        -> TokenWrite
    {
        let generation = claim.generation + 1
        let timing = grant.connection.facts.policy.timing(
            of: answer, issuedAt: issuedAt, replacing: grant.known.timing, isRefreshable: true,
            spread: RefreshPolicy.spread(of: claim.id, generation: generation))
        let granted = answer.scopes ?? grant.known.granted
        var data: EventData = [
            "generation": .integer(generation), "scopes_granted": .text(granted.blankSeparated),
            "access_token_expires_at": .integer(timing.accessTokenExpiresAt.milliseconds),
        ]
        if !answer.oddities.isEmpty { data["oddities"] = .text(answer.oddities.joined(separator: " ")) }
        var write = TokenWrite(
            id: claim.id, attempt: claim.attempt, expectedGeneration: claim.generation,
            tokens: try flight.vault.seal(tokens, generation: generation, under: grant.key), timing: timing,
            isRefreshable: true, granted: granted, at: flight.time.now,
            events: [event(.refreshed, data: data)])
        write.health = health
        write.foundChain = grant.known.chain
        write.hasRotated = tokens.refreshToken != grant.refreshToken
        return write
    }

    /// A profile that is still missing, or too old by now, is asked for with the new token, or is what the new ID token has
    /// told; what fails here costs no token.
    private func enrich(_ write: TokenWrite, accessToken: SecretText, _ told: Profile?) async {
        guard grant.wantsProfile(at: flight.time.now) else { return }
        guard let stored = try? await flight.store.consent(claim.id) else { return }
        let deadline = flight.time.monotonic + grant.connection.facts.timeouts.total
        let fetched: FetchedProfile
        if let told, let person = told.providerSubject {
            fetched = FetchedProfile(told: told, of: person, granted: write.granted, by: grant.connection)
        } else {
            fetched = await ProfileFetch(time: flight.time).fetch(
                with: accessToken, from: grant.connection, granted: write.granted, until: deadline)
        }
        guard fetched.isNews(to: stored.record), fetched.names(personOf: grant.connection) else { return }
        let keeping = ProfileKeeping(store: flight.store, vault: flight.vault, time: flight.time, log: flight.log)
        _ = await keeping.keep(
            fetched, in: stored, grant.key, sharing: grant.connection.facts.identity.sharing, tokens: nil,
            caller: caller)
    }

    /// Tokens that came after the person had withdrawn are not stored: they go the way of the others, the new one first.
    private func revoke(_ tokens: TokenSet) async {
        flight.log.warning("a grant ended while it was refreshed", facts)
        do {
            guard let ended = try await flight.store.consent(claim.id)?.record, ended.status == .revoked else { return }
            // By the time of the claim, which was before the withdrawal: so they come before the old ones.
            let now = flight.time.now
            let drafts = try RevocationDrafts(vault: flight.vault, entropy: flight.entropy)
                .drafts(of: tokens, record: ended, reason: .withdrawal, at: claim.at)
            try await persistence.insist(for: .seconds(30)) { () async throws(StoreFailure) in
                try await flight.store.queueRevocations(drafts, at: now)
            }
        } catch {
            flight.log.error("tokens of a withdrawn grant could not be queued", facts + [Fact(.reason, "\(error)")])
        }
    }

    private func current() async throws(ConsentFailure) -> RefreshFlight.Outcome {
        let now = try await flight.read(claim.id)
        switch now.status {
        case .active, .failing: return .success(RefreshedGrant(now))
        case .reauthorizationRequired: throw .reauthorizationRequired(now.statusReason)
        case .superseded, .expired, .revoked: throw .consentEnded(now.status)
        }
    }

    var facts: [Fact] { [Fact(.consentID, "\(claim.id)"), Fact(.provider, grant.known.provider.name)] }

    func event(_ type: EventType, data: EventData = [:]) -> EventDraft {
        EventDraft(
            type: type, at: flight.time.now, caller: caller.name, requestID: caller.requestID, data: data)
    }

    private func described(_ statement: ProviderStatement) -> EventData {
        var data: EventData = ["provider_status": .integer(Int64(statement.status))]
        data["provider_error"] = statement.error.map(EventValue.text)
        data["provider_correlation_id"] = statement.correlationID.map(EventValue.text)
        return data
    }
}

extension ConsentFailure {
    /// One word for log lines and events.
    package var word: String {
        switch self {
        case .unknownProvider: "unknown_provider"
        case .unknownNotice: "unknown_notice"
        case .environmentMismatch: "environment_mismatch"
        case .redirectURINotAllowed: "redirect_uri_not_allowed"
        case .proofKeyRequired: "pkce_required"
        case .nonceRequired, .nonceUnchecked, .otherIssuer: "invalid_request"
        case .notFound: "not_found"
        case .consentEnded: "consent_ended"
        case .reauthorizationRequired: "reauthorization_required"
        case .codeAlreadyUsed: "code_already_used"
        case .codeRejected: "code_rejected"
        case .idTokenInvalid: "id_token_invalid"
        case .sharedSubject: "shared_subject"
        case .providerBadResponse: "provider_bad_response"
        case .exchangeUnknown: "exchange_unknown"
        case .exchangePending: "exchange_pending"
        case .refreshUnknown: "refresh_unknown"
        case .refreshPending, .heldBack, .providerUnavailable, .storeUnavailable, .refreshingStopped:
            "provider_unavailable"
        case .providerMisconfigured, .providerAbsent, .clientChanged: "provider_misconfigured"
        case .accessTokensOff: "access_tokens_off"
        case .rateLimited: "rate_limited"
        case .evidenceDiffers, .ourFault: "internal"
        }
    }
}
