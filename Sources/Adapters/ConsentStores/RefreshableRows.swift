// SPDX-License-Identifier: Apache-2.0
package import Consents

extension SQLStore {
    package func refreshableGrant(_ id: ConsentID) async throws(StoreFailure) -> RefreshableGrant? {
        try await readers.read { connection throws(SQLError) in
            try RefreshableRows.grant(id, in: connection)
        }
    }
}

/// A consent's row as far as a refresh needs it: half of its columns, and none that must be taken apart.
enum RefreshableRows {
    /// Those behind the identifier.
    static let columns = """
        provider, environment, client_id, token_endpoint, status, status_reason, generation,
        issued_at, access_token_expires_at, refresh_token_expires_at,
        CASE attempt_phase WHEN 'sent' THEN due_before_claim ELSE due_at END,
        is_refreshable, refresh_failures, has_rotated, granted_scopes, profile_status, profile_fetched_at,
        key_sealed, tokens_sealed, attempt_id, attempt_phase, attempt_owner, attempt_sent_at,
        unknown_attempt_id IS NOT NULL, event_count, chain_head
        """
    private static let byID = SQLQuery("SELECT \(columns) FROM consents WHERE id = ? AND erased_at IS NULL")

    /// Nil where there is none, or it was erased.
    static func grant(_ id: ConsentID, in connection: borrowing SQLConnection) throws(SQLError) -> RefreshableGrant? {
        let row = try connection.prepare(byID)
        try row.bind(id)
        return try row.step() ? try grant(id, row) : nil
    }

    static func grant(_ id: ConsentID, _ row: borrowing SQLStatement) throws(SQLError) -> RefreshableGrant {
        RefreshableGrant(
            id: id, provider: row.provider(), issuer: IssuingClient(clientID: row.text(), tokenEndpoint: row.text()),
            status: try row.word(ConsentStatus.self), statusReason: try row.optionalWord(StatusReason.self),
            generation: row.integer(), timing: row.timing(), isRefreshable: row.flag(),
            refreshFailures: Int(row.integer()), hasRotated: row.flag(), grantedScopes: row.text(),
            profileStatus: try row.word(ProfileStatus.self), profileFetchedAt: row.optionalInstant(),
            envelopes: RefreshableGrant.Envelopes(key: row.optionalSealed(), tokens: row.optionalSealed()),
            attempt: try row.attempt(), chain: ChainEnd(count: row.integer(), head: row.blob()))
    }
}
