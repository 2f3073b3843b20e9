// SPDX-License-Identifier: Apache-2.0
package import Consents

extension SQLStore {
    package func apiKeys() async throws(StoreFailure) -> [APIKey] {
        try await readers.read { connection throws(SQLError) in
            let rows = try connection.prepare(APIKeyQueries.select)
            try rows.bind()
            var keys: [APIKey] = []
            while try rows.step() {
                // A scope that this program does not know gives nothing.
                keys.append(
                    APIKey(
                        name: rows.text(), digest: rows.blob(),
                        scopes: Set(rows.scopes().names.compactMap(CallerScope.init(rawValue:))),
                        createdAt: rows.instant(), expiresAt: rows.optionalInstant(), revokedAt: rows.optionalInstant(),
                        lastUsedAt: rows.optionalInstant()))
            }
            return keys
        }
    }

    package func createAPIKey(_ key: APIKey) async throws(StoreFailure) {
        let isNew = try await writer.write(.starts) { connection throws(SQLError) in
            let scopes = ScopeSet(key.scopes.map(\.rawValue).sorted())
            let changes = try connection.rows(
                changedBy: APIKeyQueries.insert, key.name, key.digest, scopes, key.createdAt, key.expiresAt,
                key.revokedAt)
            return changes == 1
        }
        guard isNew else { throw .nameTaken }
    }

    package func discardAPIKey(_ key: APIKey) async throws(StoreFailure) {
        try await writer.write(.finishes) { connection throws(SQLError) in
            try connection.run(APIKeyQueries.discard, key.name, key.digest)
        }
    }

    /// The names that are taken in a store with this program's schema, for whoever does not open it. Makes and
    /// changes nothing; blocks until done.
    /// - Throws: `damaged`, `retryLater`, `outOfReach`.
    package static func apiKeyNames(in location: StoreLocation) throws(StoreFailure) -> [String] {
        let clock = try bootClock()
        return try translated { () throws(SQLError) in
            let connection = try location.connectionForReading(clock)
            let rows = try connection.prepare(APIKeyQueries.select)
            var names: [String] = []
            while try rows.step() { names.append(rows.text()) }
            return names
        }
    }

    package func revokeAPIKey(named name: String, at now: Instant) async throws(StoreFailure) -> Bool {
        try await writer.write(.finishes) { connection throws(SQLError) in
            try connection.rows(changedBy: APIKeyQueries.revoke, now, name) == 1
        }
    }

    package func noteUses(_ uses: [String: Instant]) async throws(StoreFailure) {
        if uses.isEmpty { return }
        // Comes back with the next batch of uses, so it is refused first.
        try await writer.write(.starts) { connection throws(SQLError) in
            for (name, last) in uses { try connection.run(APIKeyQueries.noteUse, last, name, last) }
        }
    }
}

private enum APIKeyQueries {
    static let select = SQLQuery(
        "SELECT name, digest, scopes, created_at, expires_at, revoked_at, last_used_at FROM api_keys ORDER BY name")
    static let insert = SQLQuery(
        """
        INSERT INTO api_keys (name, digest, scopes, created_at, expires_at, revoked_at) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (name) DO NOTHING
        """)
    static let discard = SQLQuery("DELETE FROM api_keys WHERE name = ? AND digest = ?")
    static let revoke = SQLQuery("UPDATE api_keys SET revoked_at = ? WHERE name = ? AND revoked_at IS NULL")
    static let noteUse = SQLQuery(
        """
        UPDATE api_keys SET last_used_at = ? WHERE name = ? AND (last_used_at IS NULL OR last_used_at < ?)
        """)
}
