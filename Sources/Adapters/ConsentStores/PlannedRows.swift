// SPDX-License-Identifier: Apache-2.0
package import Consents

extension SQLStore: PlannedGrants {
    package func plannedGrants(after: ConsentID?, limit: Int) async throws(StoreFailure) -> [PlannedGrant] {
        try await readers.read { connection throws(SQLError) in
            let rows = try connection.prepare(PlanQueries.page)
            try rows.bind(after?.uuid.bytes ?? [], max(0, limit))
            var grants: [PlannedGrant] = []
            while try rows.step() { grants.append(try grant(rows)) }
            return grants
        }
    }
}

private func grant(_ row: borrowing SQLStatement) throws(SQLError) -> PlannedGrant {
    PlannedGrant(
        id: ConsentID(try row.identifier()), provider: row.provider(), status: try row.word(ConsentStatus.self),
        generation: row.integer(),
        timing: TokenTiming(
            issuedAt: row.instant(), accessTokenExpiresAt: row.instant(),
            refreshTokenExpiresAt: row.optionalInstant(), dueAt: row.optionalInstant()),
        isInDoubt: row.flag())
}

private enum PlanQueries {
    /// Along the identifiers: the sealed columns behind these are not read.
    static let page = SQLQuery(sqlite: text(status: "+status"), postgres: text(status: "status"))

    private static func text(status: String) -> String {
        """
        SELECT id, provider, environment, status, generation, issued_at, access_token_expires_at,
            refresh_token_expires_at, CASE attempt_phase WHEN 'sent' THEN due_before_claim ELSE due_at END,
            attempt_phase = 'unknown'
        FROM consents
        WHERE id > ? AND is_refreshable = 1 AND (\(status) = 'active' OR \(status) = 'failing')
        ORDER BY id LIMIT ?
        """
    }
}
