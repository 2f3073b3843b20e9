// SPDX-License-Identifier: Apache-2.0
package import Consents

extension SQLStore {
    package func glances(after last: ConsentID?, limit: Int) async throws(StoreFailure) -> [GrantGlance] {
        try await readers.read { connection throws(SQLError) in
            let rows = try connection.prepare(GlanceQueries.page)
            try rows.bind(last?.uuid.bytes ?? [], limit)
            var glances: [GrantGlance] = []
            while try rows.step() {
                glances.append(
                    GrantGlance(
                        id: ConsentID(try rows.identifier()), status: try rows.word(ConsentStatus.self),
                        dueAt: rows.optionalInstant(), updatedAt: rows.instant()))
            }
            return glances
        }
    }
}

private enum GlanceQueries {
    /// An empty blob comes before every identifier.
    static let page = SQLQuery(
        """
        SELECT id, status, CASE attempt_phase WHEN 'sent' THEN due_before_claim ELSE due_at END, updated_at
        FROM consents WHERE id > ? AND status NOT IN ('revoked', 'superseded') ORDER BY id LIMIT ?
        """)
}
