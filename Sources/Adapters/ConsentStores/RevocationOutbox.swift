// SPDX-License-Identifier: Apache-2.0
package import Consents

extension SQLStore {
    package func queueRevocations(_ drafts: [RevocationDraft], at now: Instant) async throws(StoreFailure) {
        if drafts.isEmpty { return }
        try await writer.write(.finishes) { [rules] connection throws(SQLError) in
            try rules.queue(drafts, at: now, in: connection)
        }
    }

    package func claimRevocations(limit: Int, lease: Duration, at now: Instant) async throws(StoreFailure)
        -> [RevocationTask]
    {
        try await writer.write(.starts) { [rules] connection throws(SQLError) in
            let tasks = try rules.dueRevocations(limit: limit, at: now, in: connection)
            let lease = try rules.leases.lease(for: lease, in: connection)
            for task in tasks {
                try connection.run(OutboxQueries.claim, lease.owner, lease.until, lease.boot, now, task.draft.id)
            }
            return tasks
        }
    }

    package func wouldEndAnother(_ delivery: UUIDv7) async throws(StoreFailure) -> Bool {
        try await readers.read { connection throws(SQLError) in
            let row = try connection.prepare(OutboxQueries.living)
            try row.bind(delivery)
            return try row.step()
        }
    }

    package func settleRevocation(_ settlement: RevocationSettlement) async throws(StoreFailure) {
        try await writer.write(.finishes) { [rules] connection throws(SQLError) in
            try rules.settle(settlement, in: connection)
        }
    }
}

extension WritingRules {
    /// One that is there already, from a commit of unknown fate, stays as it is.
    func queue(_ drafts: [RevocationDraft], at now: Instant, in connection: borrowing SQLConnection)
        throws(SQLError)
    {
        for draft in drafts {
            try connection.run(
                OutboxQueries.insert, draft.id, draft.provider.name, draft.provider.environmentColumn,
                draft.consent, draft.clientID, draft.consent, draft.reason.rawValue, draft.kind.rawValue, draft.token,
                now, now, now)
        }
    }

    /// Those that nobody has on the wire, oldest first. A living instance's few are passed over, and so are those of a
    /// provider that has asked to be left alone.
    fileprivate func dueRevocations(
        limit: Int, at now: Instant, in connection: borrowing SQLConnection
    ) throws(SQLError) -> [RevocationTask] {
        let rows = try connection.prepare(OutboxQueries.due)
        try rows.bind(now, now, now.advanced(by: HealthLimits.longestGate))
        var tasks: [RevocationTask] = []
        while tasks.count < limit, try rows.step() {
            let task = try RevocationTask(rows)
            let owner = try rows.optionalIdentifier()
            let until = rows.integer()
            if let owner, let boot = rows.optionalText(),
                try leases.stands(Lease(owner: InstanceID(owner), until: until, boot: boot), in: connection)
            {
                continue
            }
            tasks.append(task)
        }
        return tasks
    }

    fileprivate func settle(_ settlement: RevocationSettlement, in connection: borrowing SQLConnection)
        throws(SQLError)
    {
        let (id, now, own) = (settlement.id, settlement.at, leases.instance)
        let changes =
            switch settlement.outcome {
            case .revoked: try connection.rows(changedBy: OutboxQueries.end, "done", "revoked", now, id, own)
            case .unsupported: try connection.rows(changedBy: OutboxQueries.end, "done", "unsupported", now, id, own)
            case .failed: try connection.rows(changedBy: OutboxQueries.end, "dead", "failed", now, id, own)
            case .again(let due): try connection.rows(changedBy: OutboxQueries.again, due, now, id, own)
            case .held(let due): try hold(id, until: due, at: now, in: connection)
            }
        guard changes == 1, let event = settlement.event, let consent = try consent(of: id, in: connection) else {
            return
        }
        try append([event], to: consent, in: connection)
    }

    /// - Returns: 1 where it was not held before.
    private func hold(_ id: UUIDv7, until due: Instant, at now: Instant, in connection: borrowing SQLConnection)
        throws(SQLError) -> Int
    {
        let changes = try connection.rows(changedBy: OutboxQueries.hold, due, now, id, leases.instance)
        if changes == 0 { try connection.run(OutboxQueries.holdAgain, due, now, id, leases.instance) }
        return changes
    }

    /// What was held back for that consent's sake is looked at now.
    func releaseRevocations(heldFor consent: ConsentID, at now: Instant, in connection: borrowing SQLConnection)
        throws(SQLError)
    {
        try connection.run(OutboxQueries.release, now, consent)
    }

    /// Whose token a delivery is about.
    private func consent(of delivery: UUIDv7, in connection: borrowing SQLConnection) throws(SQLError)
        -> ConsentID?
    {
        let row = try connection.prepare(OutboxQueries.consent)
        try row.bind(delivery)
        return try row.step() ? try row.optionalIdentifier().map(ConsentID.init) : nil
    }
}

extension RevocationTask {
    /// From the columns of `OutboxQueries.due`, up to the lease's.
    fileprivate init(_ row: borrowing SQLStatement) throws(SQLError) {
        let draft = RevocationDraft(
            id: try row.identifier(), provider: row.provider(), clientID: row.text(),
            consent: try row.optionalIdentifier().map(ConsentID.init), kind: try row.word(TokenKind.self),
            reason: try row.word(RevocationReason.self), token: SealedBytes(row.blob()))
        self.init(draft: draft, tries: Int(row.integer()))
    }
}

private enum OutboxQueries {
    static let insert = SQLQuery(
        """
        INSERT INTO revocation_outbox (id, provider, environment, consent_id, client_id, provider_subject_index, reason,
            token_kind, state, token_sealed, due_at, created_at, updated_at)
        VALUES (?, ?, ?, ?, ?, (SELECT provider_subject_index FROM consents WHERE id = ?), ?, ?, 'pending', ?, ?, ?, ?)
        ON CONFLICT (id) DO NOTHING
        """)
    /// Of a server no more are held than living instances may have on the wire before those that are free. Who comes
    /// second waits, and then finds them taken: rows that are held but not handed out are passed over by nobody.
    static let due = SQLQuery(sqlite: dueText, postgres: "\(dueText) LIMIT 256 FOR UPDATE OF own")
    private static let dueText = """
        SELECT id, provider, environment, client_id, consent_id, token_kind, reason, token_sealed, tries, owner,
            lease_until, lease_boot
        FROM revocation_outbox AS own INDEXED BY revocation_outbox_by_due
        WHERE state = 'pending' AND due_at <= ? AND NOT EXISTS (
            SELECT 1 FROM revocation_outbox AS earlier
            WHERE earlier.consent_id = own.consent_id AND earlier.id < own.id AND earlier.state IN ('pending', 'held'))
            AND NOT EXISTS (
                SELECT 1 FROM provider_states AS gated
                WHERE gated.provider = own.provider AND gated.environment = own.environment AND gated.gate_until > ?
                    AND gated.gate_until <= ?)
        ORDER BY due_at, id
        """
    static let claim = SQLQuery(
        """
        UPDATE revocation_outbox SET owner = ?, lease_until = ?, lease_boot = ?, tries = tries + 1, updated_at = ?
        WHERE id = ?
        """)
    static let consent = SQLQuery("SELECT consent_id FROM revocation_outbox WHERE id = ?")
    /// Where the lease is over and nobody else took it, what its owner brings still holds.
    static let end = SQLQuery(
        """
        UPDATE revocation_outbox SET state = ?, outcome = ?, token_sealed = NULL, due_at = NULL, owner = NULL,
            lease_until = NULL, lease_boot = NULL, updated_at = ?
        WHERE id = ? AND state = 'pending' AND owner = ?
        """)
    static let living = SQLQuery(
        """
        SELECT 1 FROM revocation_outbox AS own JOIN consents AS living INDEXED BY consents_by_person
            ON living.provider_subject_index = own.provider_subject_index AND living.provider = own.provider
                AND living.environment = own.environment
        WHERE own.id = ? AND living.is_sharing_watched = 1 AND living.provider_subject_index IS NOT NULL
            AND (living.status = 'active' OR living.status = 'failing')
        LIMIT 1
        """)
    /// Nothing was sent: what counts tries begins anew.
    static let hold = SQLQuery("\(holding) AND outcome IS NULL")
    static let holdAgain = SQLQuery("\(holding) AND outcome = 'held'")
    private static let holding = """
        UPDATE revocation_outbox SET outcome = 'held', due_at = ?, tries = 0, owner = NULL, lease_until = NULL,
            lease_boot = NULL, updated_at = ?
        WHERE id = ? AND state = 'pending' AND owner = ?
        """
    static let release = SQLQuery(
        """
        UPDATE revocation_outbox SET due_at = ?
        WHERE outcome = 'held' AND state = 'pending' AND provider_subject_index IS NOT NULL
            AND provider_subject_index = (SELECT provider_subject_index FROM consents WHERE id = ?)
        """)
    static let again = SQLQuery(
        """
        UPDATE revocation_outbox SET due_at = ?, owner = NULL, lease_until = NULL, lease_boot = NULL, updated_at = ?
        WHERE id = ? AND state = 'pending' AND owner = ?
        """)
}
