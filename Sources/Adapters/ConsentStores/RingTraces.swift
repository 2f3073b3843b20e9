// SPDX-License-Identifier: Apache-2.0
package import Consents

extension SQLStore {
    /// What a store holds that was sealed, indexed or signed with a key ring, in a word; nil where it holds none of
    /// that, or there is no file, or nothing of ours in it yet. It is read only, and never made. Blocks until done.
    /// - Throws: `damaged`, `retryLater`, `outOfReach`.
    package static func contentUnderRing(in location: StoreLocation) throws(StoreFailure) -> String? {
        if case .file(let path) = location {
            try refuseOrphanedLog(of: path)
            guard try identity(of: path) != nil else { return nil }
        }
        let clock = try bootClock()
        return try translated { () throws(SQLError) in
            let connection = try location.connectionForReading(clock)
            for (table, content) in tables {
                let isThere = try connection.prepare(tableQuery)
                try isThere.bind(table)
                guard try isThere.step() else { continue }
                if try connection.prepare(SQLQuery("SELECT 1 FROM \(table) LIMIT 1")).step() { return content }
            }
            return nil
        }
    }

    private static let tables = [
        ("consents", "consents"), ("events", "events"), ("code_reservations", "exchanged codes"),
        ("authorizations", "authorizations"), ("revocation_outbox", "tokens to be revoked"),
        ("webhook_outbox", "webhook deliveries"), ("checkpoints", "checkpoints"),
    ]
    private static let tableQuery = SQLQuery(
        sqlite: "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?",
        postgres: "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = ?")
}
