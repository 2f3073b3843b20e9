// SPDX-License-Identifier: Apache-2.0
import Consents
import Observability

/// Why a grant is refreshed.
enum RefreshCause: Sendable, Equatable {
    /// Somebody asks for it.
    case asked(ProviderAsker)
    /// An operator wants it, even of one that needs a new consent.
    case forced
    /// It was found due, so; another instance that is refreshing it is waited for or not.
    case due(DueRefresh, waitsForOthers: Bool)

    /// How urgently the provider is asked for it.
    var asker: ProviderAsker {
        switch self {
        case .asked(let asker): asker
        case .forced: .operatorsRefresh
        case .due: .refresh
        }
    }

    /// Whether another instance's refresh of the same grant is as good as one's own.
    var waitsForOthers: Bool { if case .due(_, let waits) = self { waits } else { true } }
}

/// One refresh: claim, send, save, check, settle.
final class RefreshFlight: Sendable {
    typealias Outcome = Result<RefreshedGrant, ConsentFailure>

    let directory: ProviderDirectory
    let store: any ConsentStore
    let vault: any TokenVault
    let keeping: AnswerKeeping
    let replay: JournalReplay
    let time: any Timekeeper
    let entropy: any Entropy
    let watch: WatchProviders
    /// How long a claim holds: at least connect + `answer` + 30 s of every provider.
    let lease: Duration
    let metrics: Metrics
    let log: Log

    init(
        directory: ProviderDirectory, store: any ConsentStore, vault: any TokenVault, keeping: AnswerKeeping,
        replay: JournalReplay, time: any Timekeeper, entropy: any Entropy, watch: WatchProviders, lease: Duration,
        metrics: Metrics, log: Log
    ) {
        self.directory = directory
        self.store = store
        self.vault = vault
        self.keeping = keeping
        self.replay = replay
        self.time = time
        self.entropy = entropy
        self.watch = watch
        self.lease = lease
        self.metrics = metrics
        self.log = log
    }

    /// How often a grant that another instance refreshes is looked at.
    static let pollInterval = Duration.milliseconds(250)

    /// - Parameter found: the grant as it was read a while ago; nil reads it.
    func run(
        _ id: ConsentID, found: RefreshableGrant?, caller: CallerIdentity, waitUntil: Duration,
        because cause: RefreshCause
    ) async -> Outcome {
        do throws(ConsentFailure) {
            var current = if let found { found } else { try await read(id) }
            let first = current.generation
            if case .due(let due, _) = cause, !isStill(due, current) {
                return .success(RefreshedGrant(current))
            }
            while true {
                if current.generation != first { return .success(RefreshedGrant(current)) }
                if let found = try await answered(current) { return .success(RefreshedGrant(found)) }
                let grant = try open(current, isForced: cause == .forced)
                let claim = claim(of: grant, because: cause)
                // Before the claim: a process that is stopped between the two must not take its lease for a fresh one.
                let fence = LeaseFence(of: lease, from: time.sinceBoot, for: grant.connection.facts.timeouts)
                switch try await take(claim) {
                case .claimed:
                    return await send(grant, claim, caller, fence)
                case .notDue: return .success(RefreshedGrant(current))
                case .blocked(let until, let reason):
                    throw blocked(id, until, reason)
                case .held:
                    guard cause.waitsForOthers, time.monotonic < waitUntil else { throw .refreshPending }
                    try? await time.sleep(until: time.monotonic + RefreshFlight.pollInterval)
                case .refreshingStopped: throw .refreshingStopped
                // The row is read again, which tells what became of it.
                case .generationMoved, .ended:
                    guard time.monotonic < waitUntil else { throw .refreshPending }
                    try? await time.sleep(until: time.monotonic + RefreshFlight.pollInterval)
                }
                current = try await read(id)
            }
        } catch {
            return .failure(error)
        }
    }

    private func claim(of grant: OpenGrant, because cause: RefreshCause) -> RefreshClaim {
        let now = time.now
        var claim = RefreshClaim(
            id: grant.known.id, generation: grant.known.generation, attempt: AttemptID(entropy.identifier(at: now)),
            judged: grant.known.attempt.flatMap { $0.phase == .unknown ? $0.id : nil }, at: now, lease: lease)
        claim.asker = cause.asker
        claim.isForced = cause == .forced
        claim.costsGrants = grant.policy.reuse == .forbidden
        claim.onceMoreSince = grant.policy.onceMoreSince(now)
        if case .due = cause {
            claim.isOfDue = true
            claim.unbelieved = grant.known.timing.dueAt.flatMap { $0 > now ? $0 : nil }
        }
        return claim
    }

    /// The grant with what the row's last sending brought, where that lay in a journal: of this instance, or of one that
    /// has ended. Nil where the token may go out again as far as the journals tell.
    private func answered(_ current: RefreshableGrant) async throws(ConsentFailure) -> RefreshableGrant? {
        guard current.attempt != nil else { return nil }
        guard await !replay.refreshedTokens().contains(current.id) else { throw .storeUnavailable }
        let now = try await read(current.id)
        return now.generation == current.generation ? nil : now
    }

    private func send(
        _ grant: OpenGrant, _ claim: RefreshClaim, _ caller: CallerIdentity, _ fence: LeaseFence
    ) async -> Outcome {
        let issuedAt = time.now
        let outcome = await grant.connection.refresh(grant.refreshToken) { [time] in
            fence.isOpen(at: time.sinceBoot)
        }
        await keeping.setAside(
            outcome, for: .refreshToken(claim.id, generation: claim.generation), from: grant.known.provider)
        let settling = RefreshSettling(
            flight: self, grant: grant, claim: claim, caller: caller, health: grant.note(outcome, of: claim))
        let step = RefreshStep(after: outcome)
        switch grant.wasOver ? step.forGrantThatWasOver : step {
        case .save(let answer): return await settling.save(answer, issuedAt: issuedAt)
        case .over(let statement):
            switch await settling.trySpare() {
            case .none: return await settling.end(statement)
            case .begun:
                let patience = time.monotonic + grant.connection.facts.timeouts.total
                return await run(
                    claim.id, found: nil, caller: caller, waitUntil: patience, because: .asked(claim.asker))
            case .storeUnavailable: return .failure(.storeUnavailable)
            }
        case .release(let failure): return await settling.settle(.released, failure)
        case .postpone(let failure):
            return await settling.settle(.deferred(dueAt: grant.nextTurn(at: time.now)), failure)
        case .yield(let failure):
            let later = claim.isOfDue ? grant.policy.nextTryOfThrottled(of: grant.known, at: time.now) : nil
            return await settling.settle(later.map { .deferred(dueAt: $0) } ?? .released, failure)
        case .backOff(let failure):
            let sentAt: Instant? = if case .notSent = outcome { nil } else { issuedAt }
            let next = grant.policy.nextTry(of: grant.known, sentAt: sentAt, at: time.now)
            return await settling.settle(.failing(dueAt: next), failure)
        case .ambiguous(let failure):
            let next = grant.policy.nextTryOfUnknown(
                of: grant.known, sentAt: issuedAt, doubt: grant.known.attempt, at: time.now)
            return await settling.settle(.unknown(dueAt: next), failure)
        }
    }

    /// Whether the grant is still the one that was found, and due.
    private func isStill(_ due: DueRefresh, _ grant: RefreshableGrant) -> Bool {
        guard grant.status.isGrantHeld, grant.generation == due.generation, let stored = grant.timing.dueAt else {
            return false
        }
        let now = time.now
        if stored <= now { return true }
        let policy = directory.connection(named: grant.provider.name)?.facts.policy
        return policy?.believedDue(grant.timing, at: now) == now
    }

    /// Nothing was sent: others have found that the provider may not be asked now.
    private func blocked(_ id: ConsentID, _ until: Instant, _ reason: BlockReason) -> ConsentFailure {
        log.debug(
            "a refresh waits for its provider", [Fact(.consentID, "\(id)"), Fact(.reason, reason.rawValue)])
        return .providerUnavailable(retryAfter: max(.seconds(1), time.now.duration(to: until)), nil)
    }

    private func take(_ claim: RefreshClaim) async throws(ConsentFailure) -> ClaimAnswer {
        do { return try await store.claimRefresh(claim) } catch {
            log.warning(
                "the store did not let a refresh begin",
                [Fact(.consentID, "\(claim.id)"), Fact(.reason, "\(error)")])
            throw .storeUnavailable
        }
    }

    func read(_ id: ConsentID) async throws(ConsentFailure) -> RefreshableGrant {
        let found: RefreshableGrant?
        do { found = try await store.refreshableGrant(id) } catch { throw .storeUnavailable }
        guard let found else { throw .notFound }
        return found
    }

    /// The grant with its refresh token, where it may be sent at all.
    /// - Parameter isForced: whether one that needs a new consent may be, as long as its tokens are kept.
    private func open(_ known: RefreshableGrant, isForced: Bool) throws(ConsentFailure) -> OpenGrant {
        switch known.status {
        case .active, .failing: break
        case .reauthorizationRequired where isForced && known.envelopes.tokens != nil: break
        case .reauthorizationRequired: throw .reauthorizationRequired(known.statusReason)
        case .superseded, .expired, .revoked: throw .consentEnded(known.status)
        }
        guard known.isRefreshable else { throw .reauthorizationRequired(.noRefreshToken) }
        guard let connection = directory.connection(named: known.provider.name) else {
            throw .providerAbsent
        }
        guard connection.facts.hasIssued(known) else {
            log.error(
                "a grant was issued to another client than the configured one", [Fact(.consentID, "\(known.id)")])
            throw .clientChanged
        }
        let now = time.now
        let policy = connection.facts.policy.forGrant(hasRotated: known.hasRotated)
        if let later = policy.isHeldBack(known.timing, by: known.attempt, at: now) {
            throw .heldBack(retryAfter: now.duration(to: later))
        }
        do {
            guard let envelope = known.envelopes.key, let sealed = known.envelopes.tokens else {
                throw VaultFailure.unreadable
            }
            let key = try vault.openConsentKey(envelope, for: known.id)
            let tokens = try vault.openTokens(sealed, generation: known.generation, under: key)
            guard let refreshToken = tokens.refreshToken else { throw VaultFailure.unreadable }
            return OpenGrant(known, connection, key, tokens, refreshToken)
        } catch {
            log.error("a grant cannot be opened", [Fact(.consentID, "\(known.id)"), Fact(.reason, "\(error)")])
            throw .ourFault
        }
    }
}

/// A grant that may be sent, opened.
final class OpenGrant: Sendable {
    let known: RefreshableGrant
    let connection: any ProviderConnection
    let key: ConsentKey
    let tokens: TokenSet
    let refreshToken: SecretText

    init(
        _ known: RefreshableGrant, _ connection: any ProviderConnection, _ key: ConsentKey, _ tokens: TokenSet,
        _ refreshToken: SecretText
    ) {
        self.known = known
        self.connection = connection
        self.key = key
        self.tokens = tokens
        self.refreshToken = refreshToken
    }

    var policy: RefreshPolicy { connection.facts.policy.forGrant(hasRotated: known.hasRotated) }

    /// Whether the attributes are to be asked for with the next access token.
    func wantsProfile(at now: Instant) -> Bool {
        switch known.profileStatus {
        case .pending: return true
        case .unavailable: return false
        case .current:
            guard let fetched = known.profileFetchedAt else { return true }
            return fetched.duration(to: now) > connection.facts.profileMaxAge
        }
    }

    /// Whether the provider had ended it before an operator forced this try.
    var wasOver: Bool { known.status == .reauthorizationRequired }

    /// What the call showed of its provider.
    func note(_ outcome: TokenOutcome, of claim: RefreshClaim) -> HealthNote {
        var event = HealthEvent(after: outcome, of: .grant(claim.id), reuse: policy.reuse)
        // It was declared dead before, and is not once more.
        if wasOver, case .declaredDead = event { event = .codeRefused }
        return HealthNote(
            provider: known.provider, event: event,
            spread: RefreshPolicy.spread(of: claim.id, generation: Int64(bitPattern: claim.attempt.uuid.low)))
    }

    /// When a grant that is not at fault may be asked for again, after others have had their turn.
    func nextTurn(at now: Instant) -> Instant {
        let spread = RefreshPolicy.spread(
            of: known.id, generation: known.generation, afterFailures: known.refreshFailures)
        return now.advanced(by: HealthLimits.trialInterval + HealthLimits.trialInterval * spread)
    }
}
