// SPDX-License-Identifier: Apache-2.0

/// What the calls of all processes have shown of one provider, and who may call it now (refresh.md, *What an outcome
/// means*): a state machine without a clock. The store keeps it, and every claim holds against it.
///
/// - *Gate*: nobody calls before its time (429, 503).
/// - *Breaker*: open after failures in a row, or after one unknown outcome that may cost grants; one trial at a time.
/// - *Pause*: our credentials are refused; one trial a minute, an operator's at once.
/// - *Brake*: too many grants were declared dead; these and further verdicts are held, and one trial a minute goes on
///   until one of those grants gets tokens.
package struct ProviderHealth: Sendable, Equatable {
    package struct Gate: Sendable, Equatable {
        package var since: Instant
        package var until: Instant

        package init(since: Instant, until: Instant) {
            self.since = since
            self.until = until
        }
    }
    package struct Breaker: Sendable, Equatable {
        package enum Reason: String, Sendable { case unreachable, unknown }
        package var since: Instant
        package var reason: Reason
        /// Trials that failed since.
        package var failedTrials: Int

        package init(since: Instant, reason: Reason, failedTrials: Int) {
            self.since = since
            self.reason = reason
            self.failedTrials = failedTrials
        }
    }
    package struct Pause: Sendable, Equatable {
        package var since: Instant
        package var isByName: Bool

        package init(since: Instant, isByName: Bool) {
            self.since = since
            self.isByName = isByName
        }
    }
    /// The one call that is under way to see whether it is better.
    package struct Trial: Sendable, Equatable {
        package var attempt: AttemptID
        /// When its lease ends.
        package var until: Instant

        package init(attempt: AttemptID, until: Instant) {
            self.attempt = attempt
            self.until = until
        }
    }

    package var gate: Gate?
    /// Throttled calls in a row, one a gate.
    package var throttles = 0
    package var breaker: Breaker?
    /// Calls in a row of which no byte left, while the breaker is closed.
    package var failures = 0
    package var pause: Pause?
    /// Whose codes were refused for our credentials, where that has not paused the provider; two at most.
    package var accusers: [String] = []
    package var brakeSince: Instant?
    package var verdicts = VerdictWindow()
    package var trial: Trial?
    /// No trial begins before.
    package var nextTrialAt: Instant?
    /// Set when a breaker has closed or a brake was let go: failing grants are to be spread over the time from then.
    package var recoverySince: Instant?

    package init() {}

    /// Whether it tells nothing: as a provider that was never called.
    package var isClean: Bool { self == ProviderHealth() }

    /// Takes one event in.
    /// - Parameters:
    ///   - attempt: whose outcome it is; a trial's ends the trial.
    ///   - spread: 0 to 1, where in a wait's range it lies.
    package mutating func on(_ event: HealthEvent, of attempt: AttemptID, at now: Instant, spread: Double) {
        let isTrial = trial?.attempt == attempt
        if isTrial { trial = nil }
        switch event {
        case .succeeded(let witness):
            welcome(at: now)
            if case .grant(let id) = witness { verdicts.note(id, isDead: false, at: now) }
        case .declaredDead(let witness):
            // The provider has looked at the grant: it is there, and it has taken our credentials.
            welcome(at: now)
            if case .grant(let id) = witness { condemn(id, at: now) }
        case .codeRefused: welcome(at: now)
        case .requestRefused: reach(at: now)
        case .throttled(let told):
            reach(at: now)
            throttle(told, at: now, spread: spread)
        case .unreachable: fail(isTrial: isTrial, at: now, spread: spread)
        case .unknown(let costsGrants):
            if costsGrants { openForUnknown(isTrial: isTrial, at: now, spread: spread) }
        case .abandoned: openForAbandoned(at: now)
        case .credentialsRefused(let witness, let isByName):
            reach(at: now)
            accuse(witness, isByName: isByName, at: now)
        case .nothing: if isTrial { yieldTrial(at: now) }
        }
        tidy(at: now)
    }

    /// The provider has taken a call of ours.
    private mutating func welcome(at now: Instant) {
        if breaker != nil { recoverySince = now }
        breaker = nil
        failures = 0
        throttles = 0
        pause = nil
        accusers = []
    }

    /// An answer came, so it can be reached.
    private mutating func reach(at now: Instant) {
        failures = 0
        guard breaker?.reason == .unreachable else { return }
        breaker = nil
        recoverySince = now
    }

    private mutating func throttle(_ told: Duration?, at now: Instant, spread: Double) {
        let standing = gate.flatMap { $0.isBelieved(at: now) && $0.until > now ? $0 : nil }
        // Those that were on their way when it closed are of the same gate.
        let earlier = standing == nil ? throttles : throttles - 1
        let until = now.advanced(by: HealthLimits.gate(told: told, after: earlier, spread: spread))
        if let standing {
            gate?.until = max(standing.until, until)
        } else {
            gate = Gate(since: now, until: until)
            throttles += 1
        }
    }

    private mutating func fail(isTrial: Bool, at now: Instant, spread: Double) {
        guard let breaker else {
            failures += 1
            guard failures >= HealthLimits.failuresToOpen else { return }
            failures = 0
            return open(.unreachable, at: now, spread: spread)
        }
        // Those that were on their way when it opened tell nothing new.
        if isTrial { waitLonger(breaker, at: now, spread: spread) }
    }

    private mutating func openForUnknown(isTrial: Bool, at now: Instant, spread: Double) {
        guard let breaker, breaker.reason == .unknown else { return open(.unknown, at: now, spread: spread) }
        if isTrial { waitLonger(breaker, at: now, spread: spread) }
    }

    private mutating func openForAbandoned(at now: Instant) {
        guard breaker == nil else { return }
        breaker = Breaker(since: now, reason: .unknown, failedTrials: 0)
        nextTrialAt = nil
    }

    private mutating func open(_ reason: Breaker.Reason, at now: Instant, spread: Double) {
        let opened = Breaker(since: now, reason: reason, failedTrials: 0)
        breaker = opened
        nextTrialAt = now.advanced(by: opened.wait(spread: spread))
    }

    private mutating func waitLonger(_ breaker: Breaker, at now: Instant, spread: Double) {
        var longer = breaker
        longer.failedTrials += 1
        self.breaker = longer
        nextTrialAt = now.advanced(by: longer.wait(spread: spread))
    }

    /// The trial was none: the next one waits no longer than whoever asks again.
    private mutating func yieldTrial(at now: Instant) {
        guard let next = nextTrialAt else { return }
        nextTrialAt = min(next, now.advanced(by: HealthLimits.trialPoll))
    }

    /// A refused refresh pauses; a refused code does only where another subject's was refused by name as well, for junk
    /// codes would be an attack.
    private mutating func accuse(_ witness: HealthWitness, isByName: Bool, at now: Instant) {
        guard pause == nil else { return }
        if !witness.isGrant {
            guard isByName else { return }
            if !accusers.contains(witness.text) { accusers.append(witness.text) }
            guard accusers.count >= 2 else { return }
        }
        pause = Pause(since: now, isByName: isByName)
        accusers = []
        nextTrialAt = now.advanced(by: HealthLimits.trialInterval)
    }

    private mutating func condemn(_ grant: ConsentID, at now: Instant) {
        verdicts.note(grant, isDead: true, at: now)
        guard brakeSince == nil, verdicts.tellsOfTooMany(at: now) else { return }
        brakeSince = now
        nextTrialAt = now.advanced(by: HealthLimits.trialInterval)
    }

    /// Lets the brake go: by an operator's decision, or because a grant that was declared dead has got tokens.
    package mutating func releaseBrake(at now: Instant) {
        brakeSince = nil
        verdicts = VerdictWindow()
        recoverySince = now
        tidy(at: now)
    }

    /// Remembers grants that came out somehow before the first death.
    package mutating func recall(_ earlier: [ConsentID], at now: Instant) { verdicts.recall(earlier, at: now) }

    /// Whether the next trial is for a grant whose verdict is held: another grant got tokens while the brake holds, so
    /// the provider may have taken its word back, and only a grant that it called dead can show it. For a minute; if
    /// none of them can be sent, others go on.
    package func isKeptForHeld(at now: Instant) -> Bool {
        guard brakeSince != nil, let last = verdicts.verdicts.last, !last.isDead else { return false }
        return nextTrialAt.map { now < $0.advanced(by: HealthLimits.trialInterval) } ?? true
    }

    /// Drops what is over, or is dated further ahead than anything could have made it.
    private mutating func tidy(at now: Instant) {
        if let gate, gate.until <= now || !gate.isBelieved(at: now) { self.gate = nil }
        if let trial, !trial.stands(at: now) { self.trial = nil }
        if brakeSince == nil, verdicts.isBlank(at: now) { verdicts = VerdictWindow() }
        if breaker == nil, pause == nil, brakeSince == nil {
            trial = nil
            nextTrialAt = nil
        }
    }
}

extension ProviderHealth.Gate {
    /// A clock that went back leaves gates that no delay could have made.
    func isBelieved(at now: Instant) -> Bool { until <= now.advanced(by: HealthLimits.longestGate) }
}

extension ProviderHealth.Trial {
    func stands(at now: Instant) -> Bool { until > now && until <= now.advanced(by: HealthLimits.longestTrial) }
}

extension ProviderHealth.Breaker {
    fileprivate func wait(spread: Double) -> Duration {
        HealthLimits.trialWait(
            after: failedTrials,
            longest: reason == .unknown ? HealthLimits.longestWaitUnknown : HealthLimits.longestWaitUnreachable,
            spread: spread)
    }
}
