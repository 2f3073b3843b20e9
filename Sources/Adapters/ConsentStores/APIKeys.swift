// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeSQLite

extension SQLiteStore {
    package func apiKeys() async throws(StoreFailure) -> [APIKey] {
        try await readers.read { connection throws(SQLiteError) in
            let rows = try connection.prepare(APIKeyQueries.select)
            try rows.bind()
            var keys: [APIKey] = []
            while try rows.step() {
                // A scope that this program does not know gives nothing.
                keys.append(
                    APIKey(
                        name: rows.text(), digest: rows.blob(),
                        scopes: Set(rows.scopes().names.compactMap(CallerScope.init(rawValue:))),
                        createdAt: rows.instant(), expiresAt: rows.optionalInstant(), revokedAt: rows.optionalInstant()
                    ))
            }
            return keys
        }
    }

    package func createAPIKey(_ key: APIKey) async throws(StoreFailure) {
        let isNew = try await writer.write(.starts) { connection throws(SQLiteError) in
            let scopes = ScopeSet(key.scopes.map(\.rawValue).sorted())
            let changes = try connection.run(
                APIKeyQueries.insert, key.name, key.digest, scopes, key.createdAt, key.expiresAt, key.revokedAt)
            return changes == 1
        }
        guard isNew else { throw .nameTaken }
    }
}

private enum APIKeyQueries {
    static let select = SQLiteQuery(
        "SELECT name, digest, scopes, created_at, expires_at, revoked_at FROM api_keys ORDER BY name")
    static let insert = SQLiteQuery(
        """
        INSERT INTO api_keys (name, digest, scopes, created_at, expires_at, revoked_at) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (name) DO NOTHING
        """)
}
