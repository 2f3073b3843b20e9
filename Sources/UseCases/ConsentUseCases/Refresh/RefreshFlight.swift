// SPDX-License-Identifier: Apache-2.0
import Consents
import Observability

/// One refresh: claim, send, save, check, settle.
final class RefreshFlight: Sendable {
    typealias Outcome = Result<OpenedConsent, ConsentFailure>

    let directory: ProviderDirectory
    let store: any ConsentStore
    let vault: any TokenVault
    let keeping: AnswerKeeping
    let replay: JournalReplay
    let time: any Timekeeper
    let entropy: any Entropy
    let log: Log

    init(
        directory: ProviderDirectory, store: any ConsentStore, vault: any TokenVault, keeping: AnswerKeeping,
        replay: JournalReplay, time: any Timekeeper, entropy: any Entropy, log: Log
    ) {
        self.directory = directory
        self.store = store
        self.vault = vault
        self.keeping = keeping
        self.replay = replay
        self.time = time
        self.entropy = entropy
        self.log = log
    }

    /// How often a grant that another instance refreshes is looked at.
    static let pollInterval = Duration.milliseconds(250)

    func run(_ id: ConsentID, caller: CallerIdentity, waitUntil: Duration) async -> Outcome {
        do throws(ConsentFailure) {
            let first = try await stored(id)
            while true {
                let current = try await stored(id)
                if current.record.generation != first.record.generation { return .success(try opened(current)) }
                if let found = try await answered(current) { return .success(try opened(found)) }
                let grant = try open(current)
                let claim = RefreshClaim(
                    id: id, generation: current.record.generation,
                    attempt: AttemptID(entropy.identifier(at: time.now)),
                    judged: current.attempt.flatMap { $0.phase == .unknown ? $0.id : nil }, at: time.now,
                    lease: grant.lease)
                switch try await take(claim) {
                case .claimed:
                    return await send(grant, claim, caller)
                case .held:
                    guard time.monotonic < waitUntil else { throw .refreshPending }
                    try? await time.sleep(until: time.monotonic + RefreshFlight.pollInterval)
                case .refreshingStopped: throw .refreshingStopped
                case .generationMoved, .ended:
                    guard time.monotonic < waitUntil else { throw .refreshPending }
                }
            }
        } catch {
            return .failure(error)
        }
    }

    /// The record with what the row's last sending brought, where that lay in a journal: of this instance, or of one that
    /// has ended. Nil where the token may go out again as far as the journals tell.
    private func answered(_ current: StoredConsent) async throws(ConsentFailure) -> StoredConsent? {
        guard current.attempt != nil else { return nil }
        let id = current.record.id
        guard await !replay.refreshedTokens().contains(id) else { throw .storeUnavailable }
        let now = try await stored(id)
        return now.record.generation == current.record.generation ? nil : now
    }

    private func send(_ grant: OpenGrant, _ claim: RefreshClaim, _ caller: CallerIdentity) async -> Outcome {
        let leaseEnd = time.monotonic + claim.lease
        let mustRemain = grant.connection.facts.timeouts.answer + .seconds(30)
        let issuedAt = time.now
        let outcome = await grant.connection.refresh(grant.refreshToken) { [time] in
            leaseEnd - time.monotonic >= mustRemain
        }
        await keeping.setAside(
            outcome, for: .refreshToken(claim.id, generation: claim.generation), from: grant.record.provider)
        let settling = RefreshSettling(flight: self, grant: grant, claim: claim, caller: caller)
        switch RefreshStep(after: outcome) {
        case .save(let answer): return await settling.save(answer, issuedAt: issuedAt)
        case .over(let statement): return await settling.end(statement)
        case .release(let failure): return await settling.settle(.released, failure)
        case .backOff(let failure): return await settling.settle(.failing(dueAt: grant.nextTry(at: time.now)), failure)
        case .ambiguous(let failure):
            return await settling.settle(.unknown(dueAt: grant.nextTryOfUnknown(at: time.now)), failure)
        }
    }

    private func take(_ claim: RefreshClaim) async throws(ConsentFailure) -> ClaimAnswer {
        do { return try await store.claimRefresh(claim) } catch {
            log.warning(
                "the store did not let a refresh begin",
                [Fact(.consentID, "\(claim.id)"), Fact(.reason, "\(error)")])
            throw .storeUnavailable
        }
    }

    func stored(_ id: ConsentID) async throws(ConsentFailure) -> StoredConsent {
        let found: StoredConsent?
        do { found = try await store.consent(id) } catch { throw .storeUnavailable }
        guard let found else { throw .notFound }
        return await LapsedConsents(store: store, time: time).settled(found)
    }

    func opened(_ stored: StoredConsent) throws(ConsentFailure) -> OpenedConsent {
        do { return try RecordOpening(vault: vault).open(stored, withProfile: false) } catch { throw .ourFault }
    }

    /// The grant with its refresh token, where it may be sent at all.
    private func open(_ stored: StoredConsent) throws(ConsentFailure) -> OpenGrant {
        let record = stored.record
        switch record.status {
        case .active, .failing: break
        case .reauthorizationRequired: throw .reauthorizationRequired(record.statusReason)
        case .superseded, .expired, .revoked: throw .consentEnded(record.status)
        }
        guard record.isRefreshable else { throw .reauthorizationRequired(.noRefreshToken) }
        guard let connection = directory.connection(named: record.provider.name) else {
            throw .providerMisconfigured(nil)
        }
        guard connection.facts.hasIssued(record) else {
            log.error(
                "a grant was issued to another client than the configured one", [Fact(.consentID, "\(record.id)")])
            throw .clientChanged
        }
        try OpenGrant.mayBeSent(stored, policy: connection.facts.policy, now: time.now)
        do {
            guard let envelope = stored.key, let sealed = stored.tokens else { throw VaultFailure.unreadable }
            let key = try vault.openConsentKey(envelope, for: record.id)
            let tokens = try vault.openTokens(sealed, generation: record.generation, under: key)
            guard let refreshToken = tokens.refreshToken else { throw VaultFailure.unreadable }
            return OpenGrant(
                stored: stored, connection: connection, key: key, tokens: tokens, refreshToken: refreshToken)
        } catch {
            log.error("a grant cannot be opened", [Fact(.consentID, "\(record.id)"), Fact(.reason, "\(error)")])
            throw .ourFault
        }
    }
}

/// A grant that may be sent, opened.
struct OpenGrant: Sendable {
    let stored: StoredConsent
    let connection: any ProviderConnection
    let key: ConsentKey
    let tokens: TokenSet
    let refreshToken: SecretText

    var record: ConsentRecord { stored.record }

    /// Long enough to wait for the answer and to save it (refresh.md, 1).
    var lease: Duration {
        let timeouts = connection.facts.timeouts
        return max(.seconds(120), timeouts.connect + timeouts.answer + .seconds(60))
    }

    /// A refresh token whose last sending is in doubt is not sent to a provider that revokes on reuse, before the access
    /// token in hand has lapsed.
    static func mayBeSent(_ stored: StoredConsent, policy: RefreshPolicy, now: Instant) throws(ConsentFailure) {
        guard let attempt = stored.attempt, attempt.phase == .unknown else { return }
        let lapse = stored.record.timing.accessTokenExpiresAt
        let isTooLate: Bool
        switch policy.reuse {
        case .fixed: return
        case .grace(let window): isTooLate = now >= attempt.sentAt.advanced(by: window - .seconds(5))
        case .forbidden: isTooLate = true
        }
        if isTooLate, now < lapse {
            throw .providerUnavailable(retryAfter: now.duration(to: lapse), nil)
        }
    }

    func nextTry(at now: Instant) -> Instant {
        let spread = RefreshPolicy.spread(of: record.id, generation: record.generation &+ Int64(record.refreshFailures))
        return now.advanced(by: RefreshPolicy.backoff(afterFailures: record.refreshFailures, spread: spread))
    }

    func nextTryOfUnknown(at now: Instant) -> Instant {
        let next = nextTry(at: now)
        return connection.facts.policy.reuse == .fixed ? next : max(next, record.timing.accessTokenExpiresAt)
    }
}
