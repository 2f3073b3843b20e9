// SPDX-License-Identifier: Apache-2.0
package import Consents

extension SQLStore {
    package func providerStates() async throws(StoreFailure) -> [ProviderState] {
        try await readers.read { connection throws(SQLError) in
            let rows = try connection.prepare(StateQueries.all)
            try rows.bind()
            var states: [ProviderState] = []
            while try rows.step() {
                let provider = rows.provider()
                let held = Int(rows.integer())
                let heldSince = rows.optionalInstant()
                let health = try StoredHealth(rows).health
                guard held > 0 || !health.isClean else { continue }
                states.append(
                    ProviderState(provider: provider, health: health, heldVerdicts: held, heldSince: heldSince))
            }
            return states
        }
    }

    package func note(
        _ event: HealthEvent, of attempt: AttemptID, at provider: ProviderKey, now: Instant, spread: Double
    ) async throws(StoreFailure) {
        try await writer.write(.finishes) { [rules] connection throws(SQLError) in
            let note = HealthNote(provider: provider, event: event, spread: spread)
            _ = try rules.take(note, of: attempt, at: now, in: connection)
        }
    }

    package func firstSecret(of provider: ProviderKey) async throws(StoreFailure) -> BlindIndex? {
        try await readers.read { connection throws(SQLError) in
            let row = try connection.prepare(StateQueries.firstSecret)
            try row.bind(provider.name, provider.environmentColumn)
            return try row.step() ? row.optionalIndex() : nil
        }
    }

    package func keepFirstSecret(_ digest: BlindIndex, of provider: ProviderKey, at now: Instant)
        async throws(StoreFailure)
    {
        try await writer.write(.finishes) { connection throws(SQLError) in
            try connection.run(
                StateQueries.keepFirstSecret, provider.name, provider.environmentColumn, digest, now)
        }
    }
}

/// A provider's health as its row has it.
struct StoredHealth {
    var health: ProviderHealth
    var trialOwner: InstanceID?

    init(_ row: borrowing SQLStatement) throws(SQLError) {
        health = ProviderHealth()
        let (gateSince, gateUntil) = (row.optionalInstant(), row.optionalInstant())
        if let gateSince, let gateUntil { health.gate = ProviderHealth.Gate(since: gateSince, until: gateUntil) }
        health.throttles = Int(row.integer())
        let breakerSince = row.optionalInstant()
        let reason = try row.optionalWord(ProviderHealth.Breaker.Reason.self)
        let failedTrials = Int(row.integer())
        if let breakerSince, let reason {
            health.breaker = ProviderHealth.Breaker(since: breakerSince, reason: reason, failedTrials: failedTrials)
        }
        health.failures = Int(row.integer())
        let (pausedSince, isByName) = (row.optionalInstant(), row.flag())
        if let pausedSince { health.pause = ProviderHealth.Pause(since: pausedSince, isByName: isByName) }
        health.accusers = row.text().split(separator: " ").map(String.init)
        health.brakeSince = row.optionalInstant()
        health.verdicts = VerdictWindow(text: row.text())
        let attempt = try row.optionalIdentifier().map(AttemptID.init)
        let until = row.optionalInstant()
        trialOwner = try row.optionalIdentifier().map(InstanceID.init)
        if let attempt, let until { health.trial = ProviderHealth.Trial(attempt: attempt, until: until) }
        health.nextTrialAt = row.optionalInstant()
        health.recoverySince = row.optionalInstant()
    }
}

extension WritingRules {
    /// Nil where the provider has no row. A trial whose owner is gone is none.
    ///
    /// The row is not held: every code and every claim reads it, and nearly all of them write nothing to it. Where
    /// another transaction is about to close a gate, whoever has read before goes through as if it had come before, which
    /// it has; what was committed before this read holds, and that is at most a moment old (``SeenInTransaction``).
    func health(of provider: ProviderKey, in connection: borrowing SQLConnection) throws(SQLError) -> ProviderHealth? {
        if let seen = connection.seen, seen.isQuiet(provider) { return nil }
        let found = try health(of: provider, by: StateQueries.one, in: connection)
        if found?.isClean ?? true { connection.seen?.sawQuiet(provider) }
        return found
    }

    /// As above, held until the transaction ends: for whoever writes what follows from it.
    func heldHealth(of provider: ProviderKey, in connection: borrowing SQLConnection) throws(SQLError)
        -> ProviderHealth?
    {
        try health(of: provider, by: StateQueries.oneHeld, in: connection)
    }

    /// What follows from the provider's state, worked out from a row that is held where that changes it. `change` runs
    /// once more where others write too; of a provider without a row one is made to be held.
    private func changed<Value>(
        _ provider: ProviderKey, known: ProviderHealth, at now: Instant, in connection: borrowing SQLConnection,
        _ change: (inout ProviderHealth) -> Value
    ) throws(SQLError) -> (before: ProviderHealth, after: ProviderHealth, value: Value) {
        var after = known
        let value = change(&after)
        guard after != known, connection.hasOtherWriters else { return (known, after, value) }
        connection.seen?.forget()
        try connection.run(StateQueries.make, provider.name, provider.environmentColumn, now)
        let held = try heldHealth(of: provider, in: connection) ?? ProviderHealth()
        after = held
        let valueOfHeld = change(&after)
        return (held, after, valueOfHeld)
    }

    private func health(of provider: ProviderKey, by query: SQLQuery, in connection: borrowing SQLConnection)
        throws(SQLError) -> ProviderHealth?
    {
        let row = try connection.prepare(query)
        try row.bind(provider.name, provider.environmentColumn)
        guard try row.step() else { return nil }
        var stored = try StoredHealth(row)
        if stored.health.trial != nil, let owner = stored.trialOwner,
            try !leases.isAlive(owner, in: connection)
        {
            stored.health.trial = nil
        }
        return stored.health
    }

    func keep(
        _ health: ProviderHealth, of provider: ProviderKey, at now: Instant, in connection: borrowing SQLConnection
    ) throws(SQLError) {
        connection.seen?.forget()
        try connection.run(
            StateQueries.keep, provider.name, provider.environmentColumn, health.gate?.since, health.gate?.until,
            health.throttles, health.breaker?.since, health.breaker?.reason.rawValue,
            health.breaker?.failedTrials ?? 0, health.failures, health.pause?.since, health.pause?.isByName ?? false,
            health.accusers.joined(separator: " "), health.brakeSince, health.verdicts.text, health.trial?.attempt,
            health.trial?.until, health.trial.map { _ in leases.instance }, health.nextTrialAt,
            health.recoverySince, now)
    }

    /// Whether the attempt may be made; where it is the trial it is so from now on.
    func permit(
        _ asker: ProviderAsker, _ attempt: AttemptID, of grant: ConsentID? = nil, lease: Duration,
        at provider: ProviderKey, now: Instant, in connection: borrowing SQLConnection
    ) throws(SQLError) -> CallPermit {
        // Nearly always the provider's calls have shown nothing; what has no row is not carried about.
        guard let health = try health(of: provider, in: connection) else { return .free }
        return try permit(
            asker, attempt, of: grant, lease: lease, at: provider, health, now: now, in: connection)
    }

    /// The same by a state that was read.
    func permit(
        _ asker: ProviderAsker, _ attempt: AttemptID, of grant: ConsentID? = nil, lease: Duration,
        at provider: ProviderKey, _ health: ProviderHealth, now: Instant, in connection: borrowing SQLConnection
    ) throws(SQLError) -> CallPermit {
        if let grant, asker == .refresh, health.permit(asker, at: now) == .trial, health.isKeptForHeld(at: now),
            try !isHeld(grant, in: connection), try isHeldDue(at: provider, now, in: connection)
        {
            return .blocked(until: now.advanced(by: HealthLimits.trialPoll), .brake)
        }
        let (_, after, permit) = try changed(provider, known: health, at: now, in: connection) { health in
            let permit = health.permit(asker, at: now)
            if permit == .trial { health.begin(attempt, for: lease, at: now) }
            return permit
        }
        if permit == .trial { try keep(after, of: provider, at: now, in: connection) }
        return permit
    }

    /// Takes an event in; writes only where it changes something.
    /// - Returns: whether the death brake holds from then on.
    @discardableResult
    func take(_ note: HealthNote, of attempt: AttemptID, at now: Instant, in connection: borrowing SQLConnection)
        throws(SQLError) -> Bool
    {
        if let known = try health(of: note.provider, in: connection) {
            return try take(note, of: attempt, by: known, at: now, in: connection)
        }
        if note.event.tellsNothingNew { return false }
        return try take(note, of: attempt, by: ProviderHealth(), at: now, in: connection)
    }

    private func take(
        _ note: HealthNote, of attempt: AttemptID, by known: ProviderHealth, at now: Instant,
        in connection: borrowing SQLConnection
    ) throws(SQLError) -> Bool {
        var earlier: [ConsentID] = []
        if case .declaredDead(.grant(let id)) = note.event, known.verdicts.isBlank(at: now) {
            earlier = try earlierGrants(of: note.provider, but: id, in: connection)
        }
        var (before, after, _) = try changed(note.provider, known: known, at: now, in: connection) { health in
            if !earlier.isEmpty, health.verdicts.isBlank(at: now) { health.recall(earlier, at: now) }
            health.on(note.event, of: attempt, at: now, spread: note.spread)
        }
        if case .declaredDead(.grant(let id)) = note.event, before.brakeSince == nil, after.brakeSince != nil {
            let condemned = after.verdicts.recentDeaths(at: now).filter { $0 != id }
            try holdToo(condemned, of: note.provider, at: now, in: connection)
        }
        if case .succeeded(.grant(let id)) = note.event, after.brakeSince != nil {
            if try dropVerdict(on: id, in: connection) {
                // What was declared dead has got tokens: the provider has taken its word back.
                try letGo(&after, of: note.provider, at: now, in: connection)
            } else {
                try hurryHeld(of: note.provider, at: now, in: connection)
            }
        }
        if after != before { try keep(after, of: note.provider, at: now, in: connection) }
        return after.brakeSince != nil
    }
}

extension WritingRules {
    /// Other grants of a provider that came out somehow, however long ago; looked for among so many, so that one that
    /// has a million fresh grants costs no more. Where they are not found the brake holds a little sooner.
    private func earlierGrants(
        of provider: ProviderKey, but grant: ConsentID, in connection: borrowing SQLConnection
    ) throws(SQLError) -> [ConsentID] {
        let rows = try connection.prepare(StateQueries.earlier)
        try rows.bind(provider.name, provider.environmentColumn, grant, VerdictWindow.recalled)
        var found: [ConsentID] = []
        while try rows.step() { found.append(ConsentID(try rows.identifier())) }
        return found
    }
}

private enum StateQueries {
    private static let columns = """
        gate_since, gate_until, throttles, breaker_since, breaker_reason, failed_trials, consecutive_failures,
        paused_since, paused_by_name, accusers, brake_since, brake_window, trial_attempt, trial_until, trial_owner,
        next_trial_at, recovery_since
        """
    private static let oneText = "SELECT \(columns) FROM provider_states WHERE provider = ? AND environment = ?"
    static let one = SQLQuery(oneText)
    static let oneHeld = SQLQuery(locking: oneText)
    static let make = SQLQuery(
        "INSERT INTO provider_states (provider, environment, updated_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
    static let all = SQLQuery(
        """
        SELECT provider, environment,
            (SELECT count(*) FROM held_verdicts h WHERE h.provider = s.provider AND h.environment = s.environment),
            (SELECT min(at) FROM held_verdicts h WHERE h.provider = s.provider AND h.environment = s.environment),
            \(columns)
        FROM provider_states s ORDER BY provider, environment
        """)
    static let keep = SQLQuery(
        """
        INSERT INTO provider_states (provider, environment, \(columns), updated_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (provider, environment) DO UPDATE SET
            gate_since = excluded.gate_since, gate_until = excluded.gate_until, throttles = excluded.throttles,
            breaker_since = excluded.breaker_since, breaker_reason = excluded.breaker_reason,
            failed_trials = excluded.failed_trials, consecutive_failures = excluded.consecutive_failures,
            paused_since = excluded.paused_since, paused_by_name = excluded.paused_by_name,
            accusers = excluded.accusers, brake_since = excluded.brake_since, brake_window = excluded.brake_window,
            trial_owner = CASE WHEN provider_states.trial_attempt IS NOT DISTINCT FROM excluded.trial_attempt
                THEN provider_states.trial_owner
                ELSE excluded.trial_owner END,
            trial_attempt = excluded.trial_attempt, trial_until = excluded.trial_until,
            next_trial_at = excluded.next_trial_at, recovery_since = excluded.recovery_since,
            updated_at = excluded.updated_at
        """)
    static let earlier = SQLQuery(
        """
        SELECT id FROM (
            SELECT id, last_refreshed_at, last_outcome FROM consents WHERE provider = ? AND environment = ? LIMIT 1000
        ) AS looked_at
        WHERE id <> ? AND (last_refreshed_at IS NOT NULL OR last_outcome = 'over') LIMIT ?
        """)
    static let firstSecret = SQLQuery(
        "SELECT first_secret_digest FROM provider_states WHERE provider = ? AND environment = ?")
    static let keepFirstSecret = SQLQuery(
        """
        INSERT INTO provider_states (provider, environment, first_secret_digest, updated_at) VALUES (?, ?, ?, ?)
        ON CONFLICT (provider, environment) DO UPDATE SET first_secret_digest = excluded.first_secret_digest,
            updated_at = excluded.updated_at
        """)
}
