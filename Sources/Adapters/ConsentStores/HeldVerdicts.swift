// SPDX-License-Identifier: Apache-2.0
package import Consents

extension SQLStore {
    package func decideVerdicts(
        of provider: ProviderKey, as decision: VerdictDecision, limit: Int, caller: String, at now: Instant
    ) async throws(StoreFailure) -> VerdictsDecided {
        try await writer.write(.finishes) { [rules] connection throws(SQLError) in
            switch decision {
            case .confirm:
                try rules.confirm(provider, limit: limit, caller: caller, at: now, in: connection)
            case .dismiss:
                try rules.dismiss(provider, at: now, in: connection)
            }
        }
    }

    package func spreadFailing(
        of provider: ProviderKey, after: ConsentID?, from start: Instant, spacing: Duration, limit: Int, at now: Instant
    ) async throws(StoreFailure) -> FailingSpread {
        try await writer.write(.finishes) { [rules] connection throws(SQLError) in
            let ids = try rules.failing(
                provider, after: after, dueAfter: start.advanced(by: spacing * limit), limit: limit, at: now,
                in: connection)
            for (number, id) in ids.enumerated() {
                try connection.run(VerdictQueries.makeDue, start.advanced(by: spacing * number), id)
            }
            if ids.count == limit { return FailingSpread(count: ids.count, next: ids.last) }
            if var health = try rules.heldHealth(of: provider, in: connection), health.recoverySince != nil {
                health.recoverySince = nil
                try rules.keep(health, of: provider, at: now, in: connection)
            }
            return FailingSpread(count: ids.count, next: nil)
        }
    }
}

extension WritingRules {
    func keepVerdict(
        _ reason: StatusReason, on id: ConsentID, generation: Int64, of provider: ProviderKey, at now: Instant,
        in connection: borrowing SQLConnection
    ) throws(SQLError) {
        try connection.run(
            VerdictQueries.keep, id, provider.name, provider.environmentColumn, generation, reason.rawValue, now)
    }

    /// - Returns: whether there was one.
    func dropVerdict(on id: ConsentID, in connection: borrowing SQLConnection) throws(SQLError) -> Bool {
        try connection.rows(changedBy: VerdictQueries.drop, id) > 0
    }

    func isHeld(_ id: ConsentID, in connection: borrowing SQLConnection) throws(SQLError) -> Bool {
        let row = try connection.prepare(VerdictQueries.isHeld)
        try row.bind(id)
        return try row.step()
    }

    /// Whether a grant whose verdict is held may be the next trial.
    func isHeldDue(at provider: ProviderKey, _ now: Instant, in connection: borrowing SQLConnection)
        throws(SQLError) -> Bool
    {
        let row = try connection.prepare(VerdictQueries.isHeldDue)
        try row.bind(provider.name, provider.environmentColumn, now)
        return try row.step()
    }

    /// Holds the verdicts that made the brake hold, too: whose tokens are kept is `failing` again, and due as a trial.
    func holdToo(
        _ grants: [ConsentID], of provider: ProviderKey, at now: Instant, in connection: borrowing SQLConnection
    ) throws(SQLError) {
        for id in grants {
            let row = try connection.prepare(VerdictQueries.condemned)
            try row.bind(id)
            guard try row.step() else { continue }
            let generation = row.integer()
            let reason = try row.word(StatusReason.self)
            if reason == .ambiguousRotation {
                // What was in doubt before the verdict is so again: refused once more it is named as it was.
                try connection.run(VerdictQueries.reviveInDoubt, leases.instance, now, now, id)
            } else {
                try connection.run(VerdictQueries.revive, now, now, id)
            }
            try keepVerdict(reason, on: id, generation: generation, of: provider, at: now, in: connection)
            let event = EventDraft(
                type: .refreshFailed, at: now, caller: "gateway", requestID: nil,
                data: ["failure": .text("verdict_held")])
            try append([event], to: id, in: connection)
        }
    }

    /// Another grant got tokens while the brake holds: some whose verdicts are held are to be trials soon, whatever
    /// their backoff says.
    func hurryHeld(of provider: ProviderKey, at now: Instant, in connection: borrowing SQLConnection)
        throws(SQLError)
    {
        try connection.run(VerdictQueries.hurry, now, provider.name, provider.environmentColumn, now)
    }

    /// Lets the brake go: what was held is `failing` like any other, and spread over the time from now.
    func letGo(
        _ health: inout ProviderHealth, of provider: ProviderKey, at now: Instant,
        in connection: borrowing SQLConnection
    ) throws(SQLError) {
        try connection.run(VerdictQueries.dropAll, provider.name, provider.environmentColumn)
        health.releaseBrake(at: now)
    }

    fileprivate func dismiss(
        _ provider: ProviderKey, at now: Instant, in connection: borrowing SQLConnection
    ) throws(SQLError) -> VerdictsDecided {
        let held = try verdicts(of: provider, limit: .max, in: connection).count
        if var health = try heldHealth(of: provider, in: connection), held > 0 || health.brakeSince != nil {
            try letGo(&health, of: provider, at: now, in: connection)
            try keep(health, of: provider, at: now, in: connection)
        }
        return VerdictsDecided(count: held, isPart: false)
    }

    fileprivate func confirm(
        _ provider: ProviderKey, limit: Int, caller: String, at now: Instant, in connection: borrowing SQLConnection
    ) throws(SQLError) -> VerdictsDecided {
        let held = try verdicts(of: provider, limit: limit, in: connection)
        for verdict in held {
            let isEnded = try connection.rows(
                changedBy: VerdictQueries.end, verdict.reason, now, verdict.id, verdict.generation)
            if isEnded > 0 {
                let event = EventDraft(
                    type: .reauthorizationRequired, at: now, caller: caller, requestID: nil,
                    data: ["reason": .text(verdict.reason), "verdict": .text("confirmed")])
                try append([event], to: verdict.id, in: connection)
            }
            _ = try dropVerdict(on: verdict.id, in: connection)
        }
        if held.count == limit { return VerdictsDecided(count: held.count, isPart: true) }
        if var health = try heldHealth(of: provider, in: connection), health.brakeSince != nil {
            health.releaseBrake(at: now)
            try keep(health, of: provider, at: now, in: connection)
        }
        return VerdictsDecided(count: held.count, isPart: false)
    }

    private func verdicts(of provider: ProviderKey, limit: Int, in connection: borrowing SQLConnection)
        throws(SQLError) -> [(id: ConsentID, generation: Int64, reason: String)]
    {
        let rows = try connection.prepare(VerdictQueries.some)
        try rows.bind(provider.name, provider.environmentColumn, limit)
        var found: [(id: ConsentID, generation: Int64, reason: String)] = []
        while try rows.step() {
            found.append((ConsentID(try rows.identifier()), rows.integer(), rows.text()))
        }
        return found
    }

    fileprivate func failing(
        _ provider: ProviderKey, after: ConsentID?, dueAfter: Instant, limit: Int, at now: Instant,
        in connection: borrowing SQLConnection
    ) throws(SQLError) -> [ConsentID] {
        let rows = try connection.prepare(VerdictQueries.failing)
        try rows.bind(
            provider.name, after?.uuid.bytes ?? [], provider.environmentColumn, dueAfter, now, limit)
        var found: [ConsentID] = []
        while try rows.step() { found.append(ConsentID(try rows.identifier())) }
        return found
    }
}

private enum VerdictQueries {
    static let keep = SQLQuery(
        """
        INSERT INTO held_verdicts (consent_id, provider, environment, generation, reason, at)
        VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (consent_id) DO UPDATE SET provider = excluded.provider, environment = excluded.environment,
            generation = excluded.generation, reason = excluded.reason, at = excluded.at
        """)
    static let drop = SQLQuery("DELETE FROM held_verdicts WHERE consent_id = ?")
    static let dropAll = SQLQuery("DELETE FROM held_verdicts WHERE provider = ? AND environment = ?")
    static let some = SQLQuery(
        """
        SELECT consent_id, generation, reason FROM held_verdicts WHERE provider = ? AND environment = ? LIMIT ?
        """)
    /// Only where it is still the grant that was judged.
    static let end = SQLQuery(
        """
        UPDATE consents SET status = 'reauthorization_required', status_reason = ?, last_outcome = 'over',
            due_at = NULL, updated_at = ?, attempt_id = NULL, attempt_phase = NULL, attempt_owner = NULL,
            attempt_sent_at = NULL, lease_until = NULL, lease_boot = NULL, due_before_claim = NULL,
            unknown_attempt_id = NULL, unknown_owner = NULL, unknown_sent_at = NULL
        WHERE id = ? AND generation = ? AND status IN ('active', 'failing') AND attempt_phase IS DISTINCT FROM 'sent'
        """)
    static let isHeld = SQLQuery("SELECT 1 FROM held_verdicts WHERE consent_id = ?")
    static let isHeldDue = SQLQuery(
        """
        SELECT 1 FROM held_verdicts h JOIN consents c ON c.id = h.consent_id
        WHERE h.provider = ? AND h.environment = ? AND c.status = 'failing' AND c.attempt_phase IS NULL
            AND c.due_at <= ?
        LIMIT 1
        """)
    static let hurry = SQLQuery(
        """
        UPDATE consents SET due_at = ?
        WHERE id IN (SELECT consent_id FROM held_verdicts WHERE provider = ? AND environment = ? ORDER BY at LIMIT 20)
            AND status = 'failing' AND attempt_phase IS NULL AND due_at > ?
        """)
    /// A verdict over what a copy of the store brought back is expected, and stays.
    static let condemned = SQLQuery(
        locking:
            """
            SELECT generation, status_reason FROM consents
            WHERE id = ? AND status = 'reauthorization_required'
                AND (status_reason = 'provider_rejected' OR status_reason = 'ambiguous_rotation')
                AND tokens_sealed IS NOT NULL
            """)
    static let revive = SQLQuery(
        """
        UPDATE consents SET status = 'failing', status_reason = NULL, refresh_failures = refresh_failures + 1,
            last_outcome = 'failing', due_at = ?, updated_at = ?
        WHERE id = ?
        """)
    static let reviveInDoubt = SQLQuery(
        """
        UPDATE consents SET status = 'failing', status_reason = NULL, refresh_failures = refresh_failures + 1,
            last_outcome = 'unknown', attempt_id = settled_attempt, attempt_phase = 'unknown', attempt_owner = ?,
            attempt_sent_at = updated_at, due_at = ?, updated_at = ?
        WHERE id = ?
        """)
    /// One in doubt only where it waits for nothing but its backoff: its access token has lapsed.
    static let failing = SQLQuery(
        """
        SELECT id FROM consents
        WHERE provider = ? AND status = 'failing' AND id > ? AND environment = ? AND due_at > ?
            AND (attempt_phase IS NULL OR attempt_phase = 'unknown' AND access_token_expires_at <= ?)
        ORDER BY id LIMIT ?
        """)
    static let makeDue = SQLQuery(
        """
        UPDATE consents SET due_at = ? WHERE id = ? AND status = 'failing' AND due_at IS NOT NULL
            AND attempt_phase IS DISTINCT FROM 'sent'
        """)
}
