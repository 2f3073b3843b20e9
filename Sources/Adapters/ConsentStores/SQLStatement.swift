// SPDX-License-Identifier: Apache-2.0
internal import NativePostgres
internal import NativeSQLite

/// One use of a prepared statement: bind, step, take the columns from left to right.
///
/// Nothing here is inlined: two switches over such a value in one function break the optimizer of Swift 6.3
/// (`SimplifyCFG::dominatorBasedSimplifications`).
enum SQLStatement: ~Copyable {
    case sqlite(SQLiteStatement)
    case postgres(PostgresStatement)

    /// Gives the parameters their values, first to last.
    @inline(never) func bind(_ values: any SQLBindable...) throws(SQLError) {
        switch self {
        case .sqlite(let statement):
            do throws(SQLiteError) {
                try statement.bind(count: values.count) { values[$0].sqlite }
            } catch { throw .sqlite(error) }
        case .postgres(let statement): statement.bind(values.map { PostgresValue($0.sqlValue) })
        }
    }

    /// As ``bind(_:)``, for values whose number is found out.
    @inline(never) func bind(all values: [CopiedValue]) throws(SQLError) {
        switch self {
        case .sqlite(let statement):
            do throws(SQLiteError) {
                try statement.bind(count: values.count) { values[$0].sqlite }
            } catch { throw .sqlite(error) }
        case .postgres(let statement): statement.bind(values.map { PostgresValue($0.sqlValue) })
        }
    }

    /// Goes to the next row.
    /// - Returns: false after the last one.
    @inline(never) func step() throws(SQLError) -> Bool {
        switch self {
        case .sqlite(let statement):
            do throws(SQLiteError) { return try statement.step() } catch { throw .sqlite(error) }
        case .postgres(let statement):
            do throws(PostgresError) { return try statement.step() } catch { throw .postgres(error) }
        }
    }

    /// The next column's integer; 0 where the row holds something else.
    @inline(never) func integer() -> Int64 {
        switch self {
        case .sqlite(let statement): statement.integer()
        case .postgres(let statement): statement.integer()
        }
    }

    /// The next column's integer, nil for NULL.
    @inline(never) func optionalInteger() -> Int64? {
        switch self {
        case .sqlite(let statement): statement.optionalInteger()
        case .postgres(let statement): statement.optionalInteger()
        }
    }

    /// The next column's text; empty for NULL.
    @inline(never) func text() -> String {
        switch self {
        case .sqlite(let statement): statement.text()
        case .postgres(let statement): statement.text()
        }
    }

    @inline(never) func optionalText() -> String? {
        switch self {
        case .sqlite(let statement): statement.optionalText()
        case .postgres(let statement): statement.optionalText()
        }
    }

    /// The next column's bytes; empty for NULL.
    @inline(never) func blob() -> [UInt8] {
        switch self {
        case .sqlite(let statement): statement.blob()
        case .postgres(let statement): statement.blob()
        }
    }

    @inline(never) func optionalBlob() -> [UInt8]? {
        switch self {
        case .sqlite(let statement): statement.optionalBlob()
        case .postgres(let statement): statement.optionalBlob()
        }
    }
}
