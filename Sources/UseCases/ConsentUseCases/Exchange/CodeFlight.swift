// SPDX-License-Identifier: Apache-2.0
import Consents
import Observability

/// One code's way from its reservation to its consent.
final class CodeFlight: Sendable {
    typealias Outcome = Result<Redemption, ConsentFailure>

    let store: any ConsentStore
    let vault: any TokenVault
    let time: any Timekeeper
    let entropy: any Entropy
    let limit: any ExchangeLimit
    let settle: SettleGrant
    let keeping: AnswerKeeping
    let replay: JournalReplay
    let journaled: JournaledCodes
    let watch: WatchProviders
    let metrics: Metrics
    let log: Log
    /// Of the configured providers.
    let policies: [ProviderKey: RefreshPolicy]

    init(
        store: any ConsentStore, vault: any TokenVault, time: any Timekeeper, entropy: any Entropy,
        limit: any ExchangeLimit, settle: SettleGrant, keeping: AnswerKeeping, replay: JournalReplay,
        journaled: JournaledCodes, watch: WatchProviders, metrics: Metrics, log: Log,
        policies: [ProviderKey: RefreshPolicy]
    ) {
        self.store = store
        self.vault = vault
        self.time = time
        self.entropy = entropy
        self.limit = limit
        self.settle = settle
        self.keeping = keeping
        self.replay = replay
        self.journaled = journaled
        self.watch = watch
        self.metrics = metrics
        self.log = log
        self.policies = policies
    }

    /// How often a code that another instance has on the wire is looked at.
    static let pollInterval = Duration.milliseconds(250)

    func run(_ plan: CodePlan, _ slot: CodeSlot) async -> Outcome {
        let attempt = AttemptID(entropy.identifier(at: time.now))
        do {
            while true {
                let answer = try await store.reserveCode(plan.reservation(attempt: attempt, now: time.now))
                switch answer {
                case .reserved, .reservedOnWatch:
                    if let delay = limit.countExchange(for: plan.subject) {
                        try await giveBack(plan, attempt, isWatched: answer.isWatched)
                        return .failure(.rateLimited(retryAfter: delay))
                    }
                    guard let code = slot.take() else {
                        try await giveBack(plan, attempt, isWatched: answer.isWatched)
                        return .failure(.ourFault)
                    }
                    return await send(code, plan, attempt, isWatched: answer.isWatched)
                case .blocked(let until, let reason):
                    log.info(
                        "a code waits for its provider",
                        [Fact(.provider, plan.facts.key.name), Fact(.reason, reason.rawValue)])
                    let delay = max(.seconds(1), time.now.duration(to: until))
                    return .failure(.providerUnavailable(retryAfter: delay, nil))
                case .consent(let id):
                    return await known(id)
                case .ended(let verdict, let sealed):
                    let statement = sealed.flatMap { try? vault.openStatement($0, code: plan.digest) }
                    return .failure(ConsentFailure(verdict, statement))
                case .abandonedGrant(let sealed):
                    return await settleSealed(sealed, plan)
                case .otherSubject(let id):
                    await tellOfOtherSubject(id, plan)
                    return .failure(.codeAlreadyUsed)
                case .underWay:
                    guard time.monotonic < plan.callerDeadline else { return .failure(.exchangePending) }
                    try? await time.sleep(until: time.monotonic + CodeFlight.pollInterval)
                }
            }
        } catch {
            log.warning(
                "the store did not reserve a code", [Fact(.reason, "\(error)"), Fact(.provider, plan.facts.key.name)])
            // One whose answer waits in the journal is spent, and must not be told to be unspent.
            return .failure(journaled.contains(plan.digest) ? .exchangePending : .storeUnavailable)
        }
    }

    /// Of a code that is not sent: it is unspent, and if it was to be the provider's trial, another may be that now.
    private func giveBack(_ plan: CodePlan, _ attempt: AttemptID, isWatched: Bool) async throws(StoreFailure) {
        if isWatched { await note(.nothing, plan, attempt) }
        try await store.releaseCode(plan.digest, attempt: attempt, at: time.now)
    }

    private func send(
        _ code: consuming AuthorizationCode, _ plan: CodePlan, _ attempt: AttemptID, isWatched: Bool
    ) async -> Outcome {
        let issuedAt = time.now
        let outcome = await plan.connection.exchange(code, plan.parameters)
        let event = HealthEvent(
            after: outcome, of: .subject(plan.subjectIndex), reuse: plan.facts.policy.reuse)
        if event.isFailure, isWatched || event.concernsOthers { await note(event, plan, attempt) }
        await keeping.setAside(outcome, for: .code(plan.digest), from: plan.facts.key)
        let step = ExchangeStep(after: outcome)
        let persistence = StorePersistence(time: time)
        do {
            switch step {
            case .keep(let answer):
                let kept = await keep(answer, plan, attempt, issuedAt: issuedAt)
                if let secret = plan.connection.takeProvenSecret() {
                    await TellProvenSecret(store: store, time: time, log: log)(secret, of: plan.facts.key)
                }
                if isWatched { await note(event, plan, attempt) }
                return kept
            case .release(let failure):
                try await persistence.insist(for: .seconds(5)) { () async throws(StoreFailure) in
                    try await store.releaseCode(plan.digest, attempt: attempt, at: time.now)
                }
                return .failure(failure)
            case .end(let verdict, let statement, let failure):
                let sealed = statement.flatMap { try? vault.seal($0, code: plan.digest) }
                try await persistence.insist(for: .seconds(30)) { () async throws(StoreFailure) in
                    try await store.endCode(
                        plan.digest, attempt: attempt, as: verdict, statement: sealed, at: time.now)
                }
                return .failure(failure)
            }
        } catch {
            // The reservation stays as sent, and is named unknown when this instance is gone or its lease is over.
            log.error("the store did not take what became of a code", [Fact(.reason, "\(error)")])
            if case .end(_, _, let failure) = step { return .failure(failure) }
            return .failure(.storeUnavailable)
        }
    }

    /// A failure is noted before its code is released, so that nobody sends it, or another, meanwhile; a success after
    /// its tokens are kept, and only where the provider's calls have gone wrong of late.
    private func note(_ event: HealthEvent, _ plan: CodePlan, _ attempt: AttemptID) async {
        let spread = RefreshPolicy.spread(of: ConsentID(attempt.uuid), generation: 0)
        do {
            try await store.note(event, of: attempt, at: plan.facts.key, now: time.now, spread: spread)
        } catch {
            log.warning("the store did not take what a call showed of its provider", [Fact(.reason, "\(error)")])
        }
        await watch()
    }

    /// Commits the tokens before anything else is done with them, then makes a consent of them.
    private func keep(_ given: TokenAnswer, _ plan: CodePlan, _ attempt: AttemptID, issuedAt: Instant) async
        -> Outcome
    {
        let asked = plan.asked(receivedAt: time.now)
        var answer = given
        // Nobody looks at it, now or later.
        if asked == nil, answer.tokens.idToken != nil { answer.tokens.idToken = nil }
        let grant = KeptGrant(
            answer: answer, provider: plan.facts.key, issuer: plan.facts.issuer, subject: plan.subject,
            requested: plan.facts.scopes, client: plan.client, notice: plan.notice, caller: plan.caller.name,
            requestID: plan.caller.requestID, issuedAt: issuedAt, identity: asked)
        do {
            let sealed = try vault.seal(grant, code: plan.digest)
            let content = AnsweredWrite.grant(code: plan.digest, attempt: attempt, sealed: sealed)
            let kept = try await keeping.keep(content, for: plan.facts.timeouts.answer) {
                () async throws(StoreFailure) in
                try await store.keepGrant(plan.digest, attempt: attempt, grant: sealed, at: time.now)
            }
            switch kept {
            case .stored(true): break
            case .stored(false):
                log.error(
                    "a code came to another end while its tokens were taken", [Fact(.provider, plan.facts.key.name)])
                return .failure(.exchangeUnknown(nil))
            // The tokens are safe, and the same request finds them once the store takes writes again.
            case .journaled:
                journaled.insert(plan.digest)
                return .failure(.exchangePending)
            }
        } catch {
            log.error("tokens could not be committed and are lost", [Fact(.reason, "\(error)")])
            return .failure(.exchangeUnknown(nil))
        }
        return await settled(
            grant, plan.committedCode, until: max(plan.profileDeadline, time.monotonic + .seconds(1)),
            identityUntil: plan.identityDeadline)
    }

    private func settleSealed(_ sealed: SealedBytes, _ plan: CodePlan) async -> Outcome {
        do {
            let grant = try vault.openGrant(sealed, code: plan.digest)
            let deadline = max(plan.profileDeadline, time.monotonic + .seconds(1))
            let outcome = await settled(
                grant, plan.committedCode, until: deadline, identityUntil: plan.identityDeadline)
            // The trail says that it was made on another's call; this one finds it.
            guard grant.caller != plan.caller.name else { return outcome }
            return outcome.map { redemption in
                Redemption(consent: redemption.consent, kind: .known, isOfflineReused: redemption.isOfflineReused)
            }
        } catch {
            log.error("a committed grant cannot be opened", [Fact(.reason, "\(error)")])
            return .failure(.ourFault)
        }
    }

    /// - Parameters:
    ///   - deadline: monotonic time until which the profile is waited for.
    ///   - identityDeadline: likewise the keys of the ID token.
    func settled(
        _ grant: KeptGrant, _ code: CommittedCode, until deadline: Duration, identityUntil identityDeadline: Duration
    ) async -> Outcome {
        do throws(ConsentFailure) {
            return .success(
                try await settle(grant, of: code, profileUntil: deadline, identityUntil: identityDeadline))
        } catch {
            switch error {
            // Told already.
            case .idTokenInvalid, .sharedSubject, .exchangePending: return .failure(error)
            default: break
            }
            log.error("a committed grant waits to be made a consent", [Fact(.provider, grant.provider.name)])
            // The code is spent and its tokens are safe: the same request finds them.
            return .failure(error == .storeUnavailable ? .exchangePending : error)
        }
    }

    private func known(_ id: ConsentID) async -> Outcome {
        do throws(ConsentFailure) {
            let read = ReadConsent(store: store, vault: vault, time: time, log: log)
            let consent = try await read(id, withProfile: true)
            return .success(Redemption(consent: consent, kind: .known, isOfflineReused: false))
        } catch {
            return .failure(error)
        }
    }

    /// - Parameter id: the code's consent, where there is one.
    func tellOfOtherSubject(_ id: ConsentID?, _ plan: CodePlan) async {
        log.warning(
            "a code was presented for another subject",
            [
                Fact(.provider, plan.facts.key.name), Fact(.caller, plan.caller.name),
                Fact(.consentID, id.map { "\($0)" }),
            ])
        let event = EventDraft(
            type: .codeOfOtherSubject, at: time.now, caller: plan.caller.name, requestID: plan.caller.requestID)
        do {
            try await store.tellOfOtherSubject(plan.subjectIndex, presenting: plan.digest, event)
        } catch {
            log.error("a code of another subject could not be written down", [Fact(.reason, "\(error)")])
        }
    }

    /// The record as somebody may get it who did not make it: with its profile only once that reading is in the trail.
    func read(_ redemption: Redemption, by caller: CallerIdentity) async -> Outcome {
        guard redemption.kind == .known, redemption.consent.profile != nil else { return .success(redemption) }
        let id = redemption.consent.record.id
        do throws(ConsentFailure) {
            let tell = TellReading(store: store, time: time, log: log)
            if try await tell(.profileRead, of: id, by: caller) { return .success(redemption) }
        } catch {
            return .failure(error)
        }
        // It ended meanwhile, and its attributes are gone.
        return await known(id)
    }

    /// Names what dead instances left, and gives the grants that they kept, in the store or in a journal. The journals
    /// come first: what lies there is not unknown.
    func abandonedGrants() async -> (grants: [OpenedGrant], codesNamedUnknown: Int, refreshesNamedUnknown: Int) {
        let replayed = opened(await replay())
        journaled.remove(replayed.map(\.code))
        let adopted = await adoptedGrants()
        return (replayed + adopted.grants, adopted.codesNamedUnknown, adopted.refreshesNamedUnknown)
    }

    typealias OpenedGrant = (code: BlindIndex, grant: KeptGrant)

    private func adoptedGrants() async -> (grants: [OpenedGrant], codesNamedUnknown: Int, refreshesNamedUnknown: Int) {
        do {
            let abandoned = try await store.adoptAbandoned(limit: 100, policies: policies, at: time.now)
            tell(abandoned)
            let unknown = abandoned.codesNamedUnknown + abandoned.refreshesNamedUnknown
            if unknown > 0 {
                log.warning("an instance ended with requests on the wire", [Fact(.count, unknown)])
            }
            return (opened(abandoned.grants), abandoned.codesNamedUnknown, abandoned.refreshesNamedUnknown)
        } catch {
            log.warning("the store could not be searched for what ended instances left", [Fact(.reason, "\(error)")])
            return ([], 0, 0)
        }
    }

    private func opened(_ grants: [(code: BlindIndex, sealed: SealedBytes)]) -> [OpenedGrant] {
        grants.compactMap { code, sealed in
            do {
                return (code, try vault.openGrant(sealed, code: code))
            } catch {
                log.error("a committed grant cannot be opened", [Fact(.reason, "\(error)")])
                return nil
            }
        }
    }

    private func tell(_ abandoned: Abandoned) {
        metrics.add(abandoned.codesNamedUnknown, to: .namedUnknown, [MetricFlight.exchange.rawValue])
        metrics.add(abandoned.refreshesNamedUnknown, to: .namedUnknown, [MetricFlight.refresh.rawValue])
        metrics.add(abandoned.grants.count, to: .grantsAdopted, [])
    }
}

extension ReservationAnswer {
    fileprivate var isWatched: Bool {
        if case .reservedOnWatch = self { true } else { false }
    }
}

extension HealthEvent {
    fileprivate var isFailure: Bool {
        if case .succeeded = self { false } else { true }
    }

    /// Whether it is told even of a provider that has shown nothing: junk codes tell nothing.
    fileprivate var concernsOthers: Bool {
        switch self {
        case .throttled, .unreachable, .credentialsRefused: true
        case .succeeded, .declaredDead, .codeRefused, .requestRefused, .unknown, .abandoned, .nothing: false
        }
    }
}
