// SPDX-License-Identifier: Apache-2.0
package import Consents

extension SQLStore: Retention {
    package func retentionTally(_ rules: RetentionRules, at now: Instant) async throws(StoreFailure)
        -> [RetentionStep: Int]
    {
        try await readers.read { connection throws(SQLError) in
            try connection.snapshot { connection throws(SQLError) in
                var tally: [RetentionStep: Int] = [:]
                for step in RetentionStep.allCases {
                    tally[step] = try RetentionRows.found(step, rules, at: now, limit: .max, in: connection).count
                }
                return tally
            }
        }
    }

    package func retain(_ step: RetentionStep, _ retention: RetentionRules, at now: Instant, limit: Int)
        async throws(StoreFailure) -> Int
    {
        // Nearly always there is nothing; a reader tells so without a transaction of the writer's.
        let found = try await readers.read { connection throws(SQLError) in
            try RetentionRows.found(step, retention, at: now, limit: max(0, limit), in: connection)
        }
        if found.isEmpty { return 0 }
        return try await writer.write(.starts) { [rules] connection throws(SQLError) in
            var count = 0
            for row in found where try rules.letGo(row, step, retention, at: now, in: connection) { count += 1 }
            return max(count, 1)
        }
    }
}

/// Which rows a step would let go, by their rowid or key.
private enum RetentionRows {
    static func found(
        _ step: RetentionStep, _ rules: RetentionRules, at now: Instant, limit: Int,
        in connection: borrowing SQLConnection
    ) throws(SQLError) -> [[UInt8]] {
        var found: [[UInt8]] = []
        for (query, values) in queries(step, rules, at: now) where found.count < limit {
            let rows = try connection.prepare(query)
            try rows.bind(values.0, values.1, limit - found.count)
            while try rows.step() { found.append(rows.blob()) }
        }
        return found
    }

    /// Each with a word and a time.
    private static func queries(_ step: RetentionStep, _ rules: RetentionRules, at now: Instant)
        -> [(SQLQuery, (String, Instant))]
    {
        func before(_ time: Duration) -> Instant { now.advanced(by: .zero - time) }
        switch step {
        case .evidence: return [(RetentionQueries.erased, ("", before(rules.evidence)))]
        case .records:
            return [ConsentStatus.superseded, .expired, .revoked].map {
                (RetentionQueries.ended, ($0.rawValue, before(rules.records)))
            }
        case .grants:
            let word = ConsentStatus.reauthorizationRequired.rawValue
            return [(RetentionQueries.ended, (word, before(rules.reauthorizationRequired)))]
        case .codes:
            return [
                (RetentionQueries.expiredCodes, ("", now)),
                (RetentionQueries.endedCodes, ("", before(rules.exchanges))),
                (RetentionQueries.erasedCodes, ("", before(rules.exchanges))),
                (RetentionQueries.claimedCodes, ("", before(rules.exchanges))),
            ]
        case .revocations: return [(RetentionQueries.revocations, ("", before(rules.exchanges)))]
        case .quarantine: return [(RetentionQueries.quarantined, ("", before(RetentionRules.quarantine)))]
        }
    }
}

extension WritingRules {
    /// Does one, where it is still to be done.
    fileprivate func letGo(
        _ key: [UInt8], _ step: RetentionStep, _ rules: RetentionRules, at now: Instant,
        in connection: borrowing SQLConnection
    ) throws(SQLError) -> Bool {
        switch step {
        case .evidence: return try removeEvidence(of: try consentID(key), at: now, in: connection)
        case .records: return try eraseRecord(try consentID(key), at: now, in: connection)
        case .grants: return try endGrant(try consentID(key), at: now, in: connection)
        case .codes:
            let isOver = try connection.rows(
                changedBy: RetentionQueries.removeCode, key, now, now.advanced(by: .zero - rules.exchanges))
            let isAlone = try connection.rows(changedBy: RetentionQueries.removeClaims, key)
            return isOver + isAlone > 0
        case .revocations: return try connection.rows(changedBy: RetentionQueries.removeRevocation, key) > 0
        case .quarantine: return try connection.rows(changedBy: RetentionQueries.destroyQuarantined, key) > 0
        }
    }

    private func consentID(_ key: [UInt8]) throws(SQLError) -> ConsentID {
        guard let uuid = UUIDv7(bytes: key) else { throw .corrupt }
        return ConsentID(uuid)
    }

    private func endGrant(_ id: ConsentID, at now: Instant, in connection: borrowing SQLConnection)
        throws(SQLError) -> Bool
    {
        guard try connection.rows(changedBy: RetentionQueries.endGrant, now, id) > 0 else { return false }
        return try append([.ofRetention(.expired, at: now)], to: id, in: connection)
    }

    private func eraseRecord(_ id: ConsentID, at now: Instant, in connection: borrowing SQLConnection)
        throws(SQLError) -> Bool
    {
        guard try connection.rows(changedBy: RetentionQueries.erase, now, id) > 0 else { return false }
        try connection.run(RetentionQueries.dropPersonalParts, id)
        return try append([.ofRetention(.erased, at: now)], to: id, in: connection)
    }

    /// The event that tells of it is the last one, and stays whole. Of the others the last of each period stay, with
    /// nothing but their macs, and the last but one, which the last one's mac is made over.
    private func removeEvidence(of id: ConsentID, at now: Instant, in connection: borrowing SQLConnection)
        throws(SQLError) -> Bool
    {
        guard try connection.rows(changedBy: RetentionQueries.blank, id) > 0 else { return false }
        try append([.ofRetention(.evidenceRemoved, at: now)], to: id, in: connection)
        try connection.run(RetentionQueries.markRemoved, now, id)
        try connection.run(RetentionQueries.removeEvents, id)
        try connection.run(RetentionQueries.blankEvents, id, id)
        return true
    }
}

extension EventDraft {
    fileprivate static func ofRetention(_ type: EventType, at now: Instant) -> EventDraft {
        EventDraft(
            type: type, at: now, caller: "gateway", requestID: nil,
            data: ["reason": .text(StatusReason.retention.rawValue)])
    }
}

enum RetentionQueries {
    static let ended = SQLQuery(
        """
        SELECT id FROM consents INDEXED BY consents_ended
        WHERE erased_at IS NULL AND status <> 'active' AND status <> 'failing' AND status = ? AND updated_at <= ?
        ORDER BY updated_at LIMIT ?
        """)
    static let erased = SQLQuery(
        """
        SELECT id FROM consents INDEXED BY consents_erased
        WHERE erased_at IS NOT NULL AND evidence_removed_at IS NULL AND ? = '' AND updated_at <= ?
        ORDER BY updated_at LIMIT ?
        """)
    static let expiredCodes = SQLQuery(
        """
        SELECT digest FROM code_reservations INDEXED BY code_reservations_expiring
        WHERE expires_at IS NOT NULL AND ? = '' AND expires_at <= ? AND unsettled_since IS NULL LIMIT ?
        """)
    static let endedCodes = SQLQuery(
        """
        SELECT digest FROM code_reservations INDEXED BY code_reservations_ended
        WHERE (state = 'unspent' OR state = 'ended') AND expires_at IS NULL AND ? = '' AND updated_at <= ? LIMIT ?
        """)
    /// Along the table: those of a consent, which they are kept as long as, have no index.
    static let erasedCodes = SQLQuery(
        """
        SELECT digest FROM code_reservations
        WHERE state = 'consent' AND expires_at IS NULL AND ? = '' AND updated_at <= ? AND EXISTS (
            SELECT 1 FROM consents WHERE id = code_reservations.consent_id AND erased_at IS NOT NULL)
        LIMIT ?
        """)
    /// What was told of codes that never were reserved, or are gone.
    static let claimedCodes = SQLQuery(
        """
        SELECT DISTINCT digest FROM code_claims
        WHERE ? = '' AND at <= ? AND NOT EXISTS (
            SELECT 1 FROM code_reservations WHERE digest = code_claims.digest)
        LIMIT ?
        """)
    static let revocations = SQLQuery(
        """
        SELECT id FROM revocation_outbox INDEXED BY revocation_outbox_over
        WHERE (state = 'done' OR state = 'dead') AND ? = '' AND updated_at <= ? LIMIT ?
        """)
    static let quarantined = SQLQuery(
        """
        SELECT digest FROM code_reservations INDEXED BY code_reservations_quarantined
        WHERE (verdict = 'id_token_invalid' OR verdict = 'shared_subject') AND ? = '' AND updated_at <= ?
            AND grant_sealed IS NOT NULL
        LIMIT ?
        """)
    static let destroyQuarantined = SQLQuery(
        "UPDATE code_reservations SET grant_sealed = NULL WHERE digest = ? AND state = 'ended'")
    static let removeCode = SQLQuery(
        """
        DELETE FROM code_reservations
        WHERE digest = ? AND unsettled_since IS NULL AND ((expires_at IS NOT NULL AND expires_at <= ?) OR (
            expires_at IS NULL AND updated_at <= ? AND (state = 'unspent' OR state = 'ended' OR EXISTS (
                SELECT 1 FROM consents WHERE id = code_reservations.consent_id AND erased_at IS NOT NULL))))
        """)
    static let removeClaims = SQLQuery(
        """
        DELETE FROM code_claims WHERE digest = ?1 AND NOT EXISTS (SELECT 1 FROM code_reservations WHERE digest = ?1)
        """)
    static let removeRevocation = SQLQuery(
        "DELETE FROM revocation_outbox WHERE id = ? AND (state = 'done' OR state = 'dead')")
    static let endGrant = SQLQuery(
        """
        UPDATE consents SET status = 'expired', status_reason = 'retention', tokens_sealed = NULL,
            spare_tokens_sealed = NULL, spare_generation = NULL, due_at = NULL, updated_at = ?
        WHERE id = ? AND status = 'reauthorization_required'
        """)
    /// `updated_at` stays: it tells when the record ended. The subject's index stays with the chain.
    static let erase = SQLQuery(
        """
        UPDATE consents SET erased_at = ?, key_sealed = NULL, subject_sealed = NULL, provider_subject_sealed = NULL,
            provider_subject_index = NULL, tokens_sealed = NULL, spare_tokens_sealed = NULL, spare_generation = NULL,
            profile_sealed = NULL, profile_status = 'unavailable', profile_fetched_at = NULL, due_at = NULL
        WHERE id = ? AND erased_at IS NULL AND (status = 'superseded' OR status = 'expired' OR status = 'revoked')
        """)
    static let dropPersonalParts = SQLQuery("UPDATE events SET personal_sealed = NULL WHERE consent_id = ?")
    static let blank = SQLQuery(
        sqlite: blankText("zeroblob(32)"), postgres: blankText("decode(repeat('00', 32), 'hex')"))

    private static func blankText(_ zeros: String) -> String {
        """
        UPDATE consents SET subject_index = \(zeros), client_id = '', token_endpoint = '',
            requested_scopes = '', granted_scopes = '', app_platform = NULL, app_product_name = NULL,
            app_sdk_version = NULL, notice = NULL, notice_is_assumed = NULL
        WHERE id = ? AND erased_at IS NOT NULL AND evidence_removed_at IS NULL
        """
    }

    static let markRemoved = SQLQuery("UPDATE consents SET evidence_removed_at = ? WHERE id = ?")
    static let removeEvents = SQLQuery(
        """
        DELETE FROM events WHERE consent_id = ?1 AND seq NOT IN (
            SELECT max(seq) FROM events WHERE consent_id = ?1 GROUP BY period
            UNION SELECT max(seq) - 1 FROM events WHERE consent_id = ?1)
        """)
    static let blankEvents = SQLQuery(
        """
        UPDATE events SET type = '', at = 0, canonical = ''
        WHERE consent_id = ? AND seq < (SELECT max(seq) FROM events WHERE consent_id = ?)
        """)
}
