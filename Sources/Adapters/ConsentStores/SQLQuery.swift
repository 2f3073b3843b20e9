// SPDX-License-Identifier: Apache-2.0
internal import NativeSQLite

/// One statement's text as each kind of store takes it. A connection prepares it once and knows it by the object, not by
/// its text: keep each in a `static let`.
final class SQLQuery: Sendable {
    let sqlite: SQLiteQuery

    init(_ text: String) { sqlite = SQLiteQuery(text) }
}
