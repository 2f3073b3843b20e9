// SPDX-License-Identifier: Apache-2.0
internal import NativeSQLite

/// One open connection to a store, with its prepared statements; it never leaves its thread. The rules are written
/// once, against this.
enum SQLConnection: ~Copyable {
    case sqlite(SQLiteConnection)

    /// The statement, prepared now or before; it may be used once at a time.
    func prepare(_ query: SQLQuery) throws(SQLError) -> SQLStatement {
        switch self {
        case .sqlite(let connection):
            do throws(SQLiteError) { return .sqlite(try connection.prepare(query.sqlite)) } catch {
                throw .sqlite(error)
            }
        }
    }

    /// Runs a statement that answers no row, and of which nobody asks what it changed: where statements are sent ahead
    /// (PostgreSQL) nothing waits for it, and its error shows no later than at the commit.
    func run(_ query: SQLQuery, _ values: any SQLBindable...) throws(SQLError) {
        switch self {
        case .sqlite(let connection): _ = try changes(of: query, values, on: connection)
        }
    }

    /// Runs a statement that answers no row.
    /// - Returns: how many rows it changed.
    func rows(changedBy query: SQLQuery, _ values: any SQLBindable...) throws(SQLError) -> Int {
        switch self {
        case .sqlite(let connection): try changes(of: query, values, on: connection)
        }
    }

    /// Runs a script of any number of statements, which takes no parameters.
    func execute(_ script: String) throws(SQLError) {
        switch self {
        case .sqlite(let connection):
            do throws(SQLiteError) { try connection.execute(script) } catch { throw .sqlite(error) }
        }
    }

    /// False inside a transaction, also one that an error has not yet ended.
    var isOutsideTransaction: Bool {
        switch self {
        case .sqlite(let connection): connection.isOutsideTransaction
        }
    }
}

private func changes(
    of query: SQLQuery, _ values: [any SQLBindable], on connection: borrowing SQLiteConnection
) throws(SQLError) -> Int {
    do throws(SQLiteError) {
        return try connection.run(query.sqlite, count: values.count) { SQLiteValue(values[$0].sqlValue) }
    } catch { throw .sqlite(error) }
}

/// One use of a prepared statement: bind, step, take the columns from left to right.
enum SQLStatement: ~Copyable {
    case sqlite(SQLiteStatement)

    /// Gives the parameters their values, first to last.
    func bind(_ values: any SQLBindable...) throws(SQLError) {
        switch self {
        case .sqlite(let statement):
            do throws(SQLiteError) {
                try statement.bind(count: values.count) { SQLiteValue(values[$0].sqlValue) }
            } catch { throw .sqlite(error) }
        }
    }

    /// Goes to the next row.
    /// - Returns: false after the last one.
    func step() throws(SQLError) -> Bool {
        switch self {
        case .sqlite(let statement):
            do throws(SQLiteError) { return try statement.step() } catch { throw .sqlite(error) }
        }
    }

    /// The next column's integer; 0 where the row holds something else.
    func integer() -> Int64 {
        switch self {
        case .sqlite(let statement): statement.integer()
        }
    }

    /// The next column's integer, nil for NULL.
    func optionalInteger() -> Int64? {
        switch self {
        case .sqlite(let statement): statement.optionalInteger()
        }
    }

    /// The next column's text; empty for NULL.
    func text() -> String {
        switch self {
        case .sqlite(let statement): statement.text()
        }
    }

    func optionalText() -> String? {
        switch self {
        case .sqlite(let statement): statement.optionalText()
        }
    }

    /// The next column's bytes; empty for NULL.
    func blob() -> [UInt8] {
        switch self {
        case .sqlite(let statement): statement.blob()
        }
    }

    func optionalBlob() -> [UInt8]? {
        switch self {
        case .sqlite(let statement): statement.optionalBlob()
        }
    }
}
