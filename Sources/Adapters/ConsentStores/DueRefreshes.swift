// SPDX-License-Identifier: Apache-2.0
package import Consents

extension SQLStore: DueRefreshes {
    package func dueRefreshes(of provider: ProviderKey, policy: RefreshPolicy, at now: Instant, limit: Int)
        async throws(StoreFailure) -> [DueRefresh]
    {
        try await readers.read { connection throws(SQLError) in
            let most = max(0, limit)
            var found = try held(at: provider, policy, now, limit: most, in: connection)
            add(try ending(of: provider, policy, at: now, limit: most, in: connection), to: &found)
            let due = try connection.prepare(DueQueries.due)
            try due.bind(provider.name, now, provider.environmentColumn, most)
            add(try grants(due, policy), to: &found)
            if found.count < most { add(try farAhead(of: provider, policy, at: now, in: connection), to: &found) }
            return Array(found.sorted { $0.precedes($1) }.prefix(most))
        }
    }

    package func dueGrants(
        of provider: ProviderKey, policy: RefreshPolicy, besides underWay: Set<ConsentID>, behind skipped: Int,
        at now: Instant, limit: Int
    ) async throws(StoreFailure) -> [RefreshableGrant] {
        try await readers.read { connection throws(SQLError) in
            let looked = max(0, limit) + underWay.count
            var known = underWay
            var found: [(due: DueRefresh, grant: RefreshableGrant)] = []
            let first =
                try held(at: provider, policy, now, limit: looked, in: connection)
                + ending(of: provider, policy, at: now, limit: looked, in: connection)
            try read(first, besides: &known, into: &found, in: connection)
            let rows = try connection.prepare(DueQueries.dueGrants)
            try rows.bind(provider.name, now, provider.environmentColumn, looked, max(0, skipped))
            // Those that are under way stand among them, mostly few: what lies behind the wanted ones is not read.
            var wanted = limit
            while wanted > 0, try rows.step() {
                let id = ConsentID(try rows.identifier())
                guard !known.contains(id) else { continue }
                let grant = try RefreshableRows.grant(id, rows)
                found.append((DueRefresh(grant, idleLife: policy.idleLife, at: now), grant))
                wanted -= 1
            }
            if found.count < limit {
                let far = try farAhead(of: provider, policy, at: now, in: connection)
                try read(far, besides: &known, into: &found, in: connection)
            }
            return found.sorted { $0.due.precedes($1.due) }.prefix(max(0, limit)).map(\.grant)
        }
    }

    package func nextDue(of provider: ProviderKey) async throws(StoreFailure) -> Instant? {
        try await readers.read { connection throws(SQLError) in
            let row = try connection.prepare(DueQueries.next)
            try row.bind(provider.name)
            return try row.step() ? row.instant() : nil
        }
    }

    package func dueTally(of provider: ProviderKey, at now: Instant) async throws(StoreFailure) -> DueTally {
        try await readers.read { connection throws(SQLError) in
            let row = try connection.prepare(DueQueries.tally)
            let overdue = now.advanced(by: .zero - DueTally.overdueAfter)
            try row.bind(overdue, provider.name, now, DueTally.most)
            guard try row.step() else { throw .corrupt }
            var tally = DueTally(
                due: Int(row.integer()), overdue: Int(row.integer()), oldest: row.optionalInstant(), ambiguous: 0)
            let ambiguous = try connection.prepare(DueQueries.ambiguous)
            try ambiguous.bind(provider.name)
            if try ambiguous.step() { tally.ambiguous = Int(ambiguous.integer()) }
            return tally
        }
    }

    package func postpone(_ due: DueRefresh, until later: Instant, at now: Instant) async throws(StoreFailure) {
        try await writer.write(.finishes) { connection throws(SQLError) in
            try connection.run(DueQueries.postpone, later, due.id, due.generation, due.dueAt)
        }
    }
}

/// Each with what its refresh has to know. One that has gone since it was found is nobody's to refresh.
private func read(
    _ due: [DueRefresh], besides known: inout Set<ConsentID>,
    into found: inout [(due: DueRefresh, grant: RefreshableGrant)],
    in connection: borrowing SQLConnection
) throws(SQLError) {
    for one in due {
        guard known.insert(one.id).inserted, let grant = try RefreshableRows.grant(one.id, in: connection) else {
            continue
        }
        found.append((one, grant))
    }
}

/// Those that are not there yet.
private func add(_ more: [DueRefresh], to found: inout [DueRefresh]) {
    let known = Set(found.map(\.id))
    found += more.filter { !known.contains($0.id) }
}

/// Those whose verdicts the death brake holds.
private func held(
    at provider: ProviderKey, _ policy: RefreshPolicy, _ now: Instant, limit: Int,
    in connection: borrowing SQLConnection
) throws(SQLError) -> [DueRefresh] {
    let rows = try connection.prepare(DueQueries.held)
    try rows.bind(provider.name, provider.environmentColumn, now, limit)
    var found = try grants(rows, policy)
    for number in found.indices { found[number].isHeld = true }
    return found
}

/// Those whose refresh token ends soonest.
private func ending(
    of provider: ProviderKey, _ policy: RefreshPolicy, at now: Instant, limit: Int,
    in connection: borrowing SQLConnection
) throws(SQLError) -> [DueRefresh] {
    let rows = try connection.prepare(DueQueries.ending)
    try rows.bind(provider.name, now, DueQueries.endsLookedAt, now, provider.environmentColumn, limit)
    return try grants(rows, policy)
}

/// Those that a wrong clock has dated further ahead than any delay can be.
private func farAhead(
    of provider: ProviderKey, _ policy: RefreshPolicy, at now: Instant, in connection: borrowing SQLConnection
) throws(SQLError) -> [DueRefresh] {
    let rows = try connection.prepare(DueQueries.farAhead)
    try rows.bind(
        provider.name, now.advanced(by: policy.leastLongestDelay), DueQueries.endsLookedAt,
        provider.environmentColumn)
    return try grants(rows, policy) { policy.believedDue($0, at: now) == now }
}

private func grants(
    _ rows: borrowing SQLStatement, _ policy: RefreshPolicy, where isWanted: (TokenTiming) -> Bool = { _ in true }
) throws(SQLError) -> [DueRefresh] {
    var found: [DueRefresh] = []
    while try rows.step() {
        let (id, generation) = (ConsentID(try rows.identifier()), rows.integer())
        let dueAt = rows.instant()
        let timing = TokenTiming(
            issuedAt: rows.instant(), accessTokenExpiresAt: rows.instant(),
            refreshTokenExpiresAt: rows.optionalInstant(), dueAt: dueAt)
        guard isWanted(timing) else { continue }
        found.append(
            DueRefresh(
                id: id, generation: generation, dueAt: dueAt,
                endsAt: timing.refreshTokenExpiresAt
                    ?? policy.idleLife.map { timing.issuedAt.advanced(by: $0) }))
    }
    return found
}

/// Each goes along one index and stops; `due_at` is set for live grants with a refresh token alone.
enum DueQueries {
    /// How far the ends of refresh tokens are looked through for grants that are due.
    static let endsLookedAt = 512

    private static let columns =
        "id, generation, due_at, issued_at, access_token_expires_at, refresh_token_expires_at"
    /// Under the death brake alone there are any.
    static let held = SQLQuery(
        """
        SELECT c.id, c.generation, c.due_at, c.issued_at, c.access_token_expires_at, c.refresh_token_expires_at
        FROM held_verdicts h JOIN consents c ON c.id = h.consent_id
        WHERE h.provider = ? AND h.environment = ? AND c.due_at IS NOT NULL AND c.due_at <= ?
        ORDER BY c.due_at LIMIT ?
        """)
    /// From the far end: those that a wrong clock has dated years ahead stand there.
    static let farAhead = SQLQuery(
        """
        SELECT \(columns) FROM (
            SELECT \(columns), environment, attempt_phase FROM consents INDEXED BY consents_by_due
            WHERE provider = ? AND due_at IS NOT NULL AND due_at > ? ORDER BY due_at DESC LIMIT ?) AS far
        WHERE environment = ? AND attempt_phase IS DISTINCT FROM 'sent'
        """)
    /// In the order of the column, said so: of what is selected PostgreSQL calls a CASE by the name of its last part.
    private static let alongDue = """
        FROM consents INDEXED BY consents_by_due
        WHERE provider = ? AND due_at IS NOT NULL AND due_at <= ? AND environment = ? ORDER BY consents.due_at LIMIT ?
        """
    static let due = SQLQuery("SELECT \(columns) \(alongDue)")
    static let dueGrants = SQLQuery("SELECT id, \(RefreshableRows.columns) \(alongDue) OFFSET ?")
    /// Those whose refresh token is told to end soonest: due no later than half of its life, they may stand far behind
    /// in a long row of others.
    static let ending = SQLQuery(
        """
        SELECT \(columns) FROM (
            SELECT \(columns), environment FROM consents INDEXED BY consents_by_token_end
            WHERE provider = ? AND due_at IS NOT NULL AND refresh_token_expires_at IS NOT NULL
                AND refresh_token_expires_at > ?
            ORDER BY refresh_token_expires_at LIMIT ?) AS ending
        WHERE due_at <= ? AND environment = ? LIMIT ?
        """)
    static let next = SQLQuery(
        """
        SELECT due_at FROM consents INDEXED BY consents_by_due
        WHERE provider = ? AND due_at IS NOT NULL ORDER BY due_at LIMIT 1
        """)
    static let tally = SQLQuery(
        """
        SELECT count(*), count(*) FILTER (WHERE due_at <= ?), min(due_at) FROM (
            SELECT due_at FROM consents INDEXED BY consents_by_due
            WHERE provider = ? AND due_at IS NOT NULL AND due_at <= ? ORDER BY due_at LIMIT ?) AS due
        """)
    static let ambiguous = SQLQuery(
        """
        SELECT count(*) FROM consents INDEXED BY consents_unknown WHERE attempt_phase = 'unknown' AND provider = ?
        """)
    private static let postponed =
        "WHERE id = ? AND generation = ? AND due_at = ? AND attempt_phase IS DISTINCT FROM 'sent'"
    /// What another instance has in hand is left to it.
    static let postpone = SQLQuery(
        sqlite: "UPDATE consents SET due_at = ? \(postponed)",
        postgres: """
            UPDATE consents SET due_at = ?
            WHERE id = (SELECT id FROM consents \(postponed) FOR UPDATE SKIP LOCKED)
            """)
}
