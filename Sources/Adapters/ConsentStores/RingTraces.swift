// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeSQLite

extension SQLStore {
    /// What a store holds that was sealed, indexed or signed with a key ring, in a word; nil where it holds none of
    /// that, or there is no file, or nothing of ours in it yet. The file is opened for reading only, and never made.
    /// Blocks until done.
    /// - Throws: `damaged`, `retryLater`, `outOfReach`.
    package static func contentUnderRing(path: String, busyTimeout: Duration) throws(StoreFailure) -> String? {
        try refuseOrphanedLog(of: path)
        guard try identity(of: path) != nil else { return nil }
        return try translated { () throws(SQLiteError) in
            let connection = try SQLiteConnection(
                path: path, access: .readOnly, busyTimeout: Int32(clamping: busyTimeout.milliseconds))
            for (table, content) in tables {
                let isThere = try connection.prepare(tableQuery)
                try isThere.bind(table)
                guard try isThere.step() else { continue }
                if try connection.prepare(SQLiteQuery("SELECT 1 FROM \(table) LIMIT 1")).step() { return content }
            }
            return nil
        }
    }

    private static let tables = [
        ("consents", "consents"), ("events", "events"), ("code_reservations", "exchanged codes"),
        ("authorizations", "authorizations"), ("revocation_outbox", "tokens to be revoked"),
        ("webhook_outbox", "webhook deliveries"), ("checkpoints", "checkpoints"),
    ]
    private static let tableQuery = SQLiteQuery("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")
}
