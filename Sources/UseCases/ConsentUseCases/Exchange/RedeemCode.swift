// SPDX-License-Identifier: Apache-2.0
package import Consents
package import Observability

/// Exchanges a code for tokens and keeps the consent: the main job.
///
/// The work runs as a flight of its own. Whoever asks for the same code meanwhile shares its outcome; whoever hangs up
/// loses nothing.
package final class RedeemCode: Sendable {
    private let directory: ProviderDirectory
    private let vault: any TokenVault
    private let time: any Timekeeper
    private let flights: FlightTable<BlindIndex, Result<Redemption, ConsentFailure>>
    private let work: CodeFlight

    package init(
        directory: ProviderDirectory, store: any ConsentStore, vault: any TokenVault, journal: any AnswerJournal,
        time: any Timekeeper, entropy: any Entropy, launcher: any TaskLauncher, limit: any ExchangeLimit,
        watch: WatchProviders, metrics: Metrics, log: Log
    ) {
        self.directory = directory
        self.vault = vault
        self.time = time
        flights = FlightTable(time: time, launcher: launcher)
        work = CodeFlight(
            store: store, vault: vault, time: time, entropy: entropy,
            limit: limit,
            settle: SettleGrant(
                directory: directory, store: store, vault: vault, time: time, entropy: entropy, log: log),
            keeping: AnswerKeeping(
                vault: vault, journal: journal, time: time, entropy: entropy, metrics: metrics, log: log),
            replay: JournalReplay(
                store: store, vault: vault, journal: journal, time: time, entropy: entropy, log: log),
            journaled: JournaledCodes(), watch: watch,
            metrics: metrics, log: log,
            policies: Dictionary(
                directory.all.map { ($0.facts.key, $0.facts.policy) }, uniquingKeysWith: { first, _ in first }))
    }

    /// - Parameter showsProfile: whether the caller is given the attributes; of a record that somebody else's call made,
    ///   that is a reading, and told before.
    /// - Throws: what the contract's table of answers names; `exchangePending` where the provider's answer is still
    ///   awaited after `total`.
    package func callAsFunction(_ request: consuming ExchangeRequest, showsProfile: Bool)
        async throws(ConsentFailure) -> Redemption
    {
        let caller = request.caller
        let redemption = try await redemption(of: request)
        return showsProfile ? try await work.read(redemption, by: caller).get() : redemption
    }

    private func redemption(of request: consuming ExchangeRequest) async throws(ConsentFailure) -> Redemption {
        let startedAt = time.monotonic
        let connection = try directory.provider(named: request.providerName, environment: request.environmentHint)
        let facts = connection.facts
        let parameters = try directory.parameters(of: request, at: facts)
        let notice = try directory.notice(named: request.notice)
        if let issuer = request.issuer { try await check(issuer, of: connection) }
        let nonce = request.nonce
        let subject = request.subject
        let subjectIndex = vault.index(of: subject)
        let digest = vault.digest(
            of: request.code, provider: facts.key, clientID: facts.issuer.clientID,
            subject: facts.hasConstantCode ? subject : nil)
        let plan = CodePlan(
            digest: digest, subject: subject, subjectIndex: subjectIndex, connection: connection,
            parameters: parameters, nonce: nonce, client: request.client, notice: notice, caller: request.caller,
            startedAt: startedAt)
        let slot = CodeSlot(request.code)
        var shared = await share(plan, slot)
        // Before a code is named unknown for good: its answer may lie in the journal of an instance that has ended, or be
        // on its way from there into the store.
        if case .failure(.exchangeUnknown)? = shared.outcome {
            if await work.replay.isNeeded { await adoptAbandoned() }
            shared = await share(plan, slot)
        }
        switch (shared.seat, shared.outcome) {
        case (.belongsToAnother, _):
            await work.tellOfOtherSubject(nil, plan)
            throw .codeAlreadyUsed
        case (_, nil):
            throw .exchangePending
        case (.waits, .success(var redemption)?):
            redemption.kind = .known
            return redemption
        case (_, let outcome?):
            return try outcome.get()
        }
    }

    /// A code of a response in another issuer's name may be another provider's, and is sent to nobody (RFC 9207, section
    /// 2.4; RFC 9700, section 4.4).
    private func check(_ issuer: String, of connection: any ProviderConnection) async throws(ConsentFailure) {
        switch await connection.answeringIssuer {
        case .notConfigured: return
        case .unavailable: throw .providerUnavailable(retryAfter: ExchangeStep.retryDelay, nil)
        case .named(let name):
            // Byte for byte: Swift takes two spellings of one letter for the same.
            guard name.utf8.elementsEqual(issuer.utf8) else {
                work.log.warning(
                    "an authorization response is of another issuer; its code is not sent",
                    [Fact(.provider, connection.facts.key.name)])
                throw .otherIssuer
            }
        }
    }

    private func share(_ plan: CodePlan, _ slot: CodeSlot) async -> (
        seat: FlightTable<BlindIndex, CodeFlight.Outcome>.Seat, outcome: CodeFlight.Outcome?
    ) {
        await flights.share(plan.digest, owner: plan.subjectIndex, until: plan.callerDeadline) { [work] in
            await work.run(plan, slot)
        }
    }

    /// Writes into the store what lies in the journals, makes consents of the grants that dead instances left, and names
    /// what they left unknown.
    ///
    /// Returns when all of them are under way, each in a flight of its own.
    /// - Returns: how many of each kind there were; zeros where the store cannot be searched now.
    @discardableResult
    package func adoptAbandoned() async -> Adoption {
        let abandoned = await work.abandonedGrants()
        for (code, grant) in abandoned.grants {
            let now = time.monotonic
            let committed = CommittedCode(digest: code, owner: vault.index(of: grant.subject))
            _ = await flights.share(code, owner: committed.owner, until: now) { [work] in
                await work.settled(grant, committed, until: now + .seconds(10), identityUntil: now + .seconds(10))
            }
        }
        return Adoption(
            grants: abandoned.grants.count, codesNamedUnknown: abandoned.codesNamedUnknown,
            refreshesNamedUnknown: abandoned.refreshesNamedUnknown)
    }

    /// How many exchanges are under way.
    package var flightsUnderWay: Int { get async { flights.count } }
}

/// How much of what ended processes had begun was taken over.
package struct Adoption: Sendable, Equatable {
    /// Grants that are made consents.
    package var grants: Int
    package var codesNamedUnknown: Int
    package var refreshesNamedUnknown: Int

    package init(grants: Int, codesNamedUnknown: Int, refreshesNamedUnknown: Int) {
        self.grants = grants
        self.codesNamedUnknown = codesNamedUnknown
        self.refreshesNamedUnknown = refreshesNamedUnknown
    }
}

/// All that a flight needs to know of its code, but for the code.
final class CodePlan: Sendable {
    let digest: BlindIndex
    let subject: Subject
    let subjectIndex: BlindIndex
    let connection: any ProviderConnection
    let facts: ProviderFacts
    let parameters: ExchangeParameters
    let nonce: SecretText?
    let client: ClientApp?
    let notice: NoticeReference?
    let caller: CallerIdentity
    /// Monotonic.
    let startedAt: Duration

    init(
        digest: BlindIndex, subject: Subject, subjectIndex: BlindIndex, connection: any ProviderConnection,
        parameters: ExchangeParameters, nonce: SecretText?, client: ClientApp?, notice: NoticeReference?,
        caller: CallerIdentity,
        startedAt: Duration
    ) {
        self.digest = digest
        self.subject = subject
        self.subjectIndex = subjectIndex
        self.connection = connection
        facts = connection.facts
        self.parameters = parameters
        self.nonce = nonce
        self.client = client
        self.notice = notice
        self.caller = caller
        self.startedAt = startedAt
    }

    /// That of the grant which it brings: the store gives a grant to nobody but its owner.
    var committedCode: CommittedCode { CommittedCode(digest: digest, owner: subjectIndex) }

    /// Monotonic time at which whoever waits is answered.
    var callerDeadline: Duration { startedAt + facts.timeouts.total }
    /// Monotonic time until which the profile is waited for: early enough to commit the consent without one and still
    /// answer with it whoever waits.
    var profileDeadline: Duration { callerDeadline - min(.milliseconds(500), facts.timeouts.total / 8) }

    /// Monotonic time until which an ID token's keys are waited for.
    var identityDeadline: Duration { startedAt + facts.timeouts.answer }

    /// What the ID token must answer to that comes with the code's tokens; nil where none is looked at.
    func asked(receivedAt: Instant) -> AskedIdentity? {
        guard !parameters.isSDKCode else { return nil }
        switch facts.identity.idToken {
        case .ignored: return nil
        case .optional, .required:
            return AskedIdentity(
                nonce: nonce, isRequired: facts.identity.idToken == .required, receivedAt: receivedAt)
        }
    }

    func reservation(attempt: AttemptID, now: Instant) -> CodeReservation {
        CodeReservation(
            digest: digest, provider: facts.key, subjectIndex: subjectIndex, attempt: attempt, at: now,
            lease: facts.timeouts.connect + facts.timeouts.answer + .seconds(30),
            expiresAt: facts.hasConstantCode ? now.advanced(by: .seconds(60)) : nil)
    }
}
