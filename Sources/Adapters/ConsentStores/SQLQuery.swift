// SPDX-License-Identifier: Apache-2.0
internal import NativePostgres
internal import NativeSQLite

/// One statement's text as each kind of store takes it. A connection prepares it once and knows it by the object, not by
/// its text: keep each in a `static let`.
///
/// Texts are written for SQLite, with `?` for a parameter. For PostgreSQL the parameters are numbered, and what only
/// SQLite has is left out: `INDEXED BY`, and a text read as a blob, which comes as the same bytes. Where more than that
/// differs there are two texts.
final class SQLQuery: Sendable {
    let sqlite: SQLiteQuery
    let postgres: PostgresQuery

    init(_ text: String) {
        sqlite = SQLiteQuery(text)
        postgres = PostgresQuery(questionMarks: withoutSQLite(text))
    }

    /// A read of rows whose content decides what is written: PostgreSQL holds them for this transaction, where SQLite has
    /// no other writer anyway. What is locked first is a consent's row (or a code's before its consent's), then its
    /// provider's; then nobody waits for the other.
    init(locking text: String) {
        sqlite = SQLiteQuery(text)
        postgres = PostgresQuery(questionMarks: withoutSQLite(text) + " FOR UPDATE")
    }

    /// The same for who need not have the row: one that another transaction holds is not among the answered.
    init(lockingFree text: String) {
        sqlite = SQLiteQuery(text)
        postgres = PostgresQuery(questionMarks: withoutSQLite(text) + " FOR UPDATE SKIP LOCKED")
    }

    init(sqlite: String, postgres: String) {
        self.sqlite = SQLiteQuery(sqlite)
        self.postgres = PostgresQuery(questionMarks: withoutSQLite(postgres))
    }
}

private func withoutSQLite(_ text: String) -> String {
    var text = text
    while let found = text.firstRange(of: " INDEXED BY ") {
        let end = text[found.upperBound...].firstIndex { $0 == " " || $0 == "\n" || $0 == ")" } ?? text.endIndex
        text.removeSubrange(found.lowerBound..<end)
    }
    text.replace("CAST(canonical AS BLOB)", with: "canonical")
    return text
}
