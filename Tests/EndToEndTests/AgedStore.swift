// SPDX-License-Identifier: Apache-2.0
import NativeSQLite

/// Time that passes in the store alone: everything in it happened so much longer ago.
enum AgedStore {
    /// Tokens were issued, and are due, so many seconds earlier.
    static func ageTokens(in folder: String, bySeconds seconds: Int) throws {
        let step = seconds * 1000
        try execute(
            """
            UPDATE consents SET issued_at = issued_at - \(step), due_at = due_at - \(step),
                last_refreshed_at = last_refreshed_at - \(step), updated_at = updated_at - \(step)
            """, in: folder)
    }

    /// What has ended did so many days earlier.
    static func ageEnds(in folder: String, byDays days: Int) throws {
        let step = days * 86_400_000
        for table in ["consents", "code_reservations", "revocation_outbox"] {
            try execute("UPDATE \(table) SET updated_at = updated_at - \(step)", in: folder)
        }
        try execute("UPDATE code_claims SET at = at - \(step)", in: folder)
    }

    static func execute(_ statement: String, in folder: String) throws {
        let connection = try SQLiteConnection(
            path: folder + "/consents.db", access: .readWrite, busyTimeout: 10_000)
        try connection.execute(statement)
    }
}
