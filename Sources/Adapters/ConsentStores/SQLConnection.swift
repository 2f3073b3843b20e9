// SPDX-License-Identifier: Apache-2.0
internal import NativePostgres
internal import NativeSQLite

/// One open connection to a store, with its prepared statements; it never leaves its thread. The rules are written
/// once, against this.
///
/// Nothing here is inlined: two switches over such a value in one function break the optimizer of Swift 6.3
/// (`SimplifyCFG::dominatorBasedSimplifications`).
enum SQLConnection: ~Copyable {
    case sqlite(SQLiteConnection)
    case postgres(PostgresLink)

    /// The statement, prepared now or before; it may be used once at a time.
    @inline(never) func prepare(_ query: SQLQuery) throws(SQLError) -> SQLStatement {
        switch self {
        case .sqlite(let connection):
            do throws(SQLiteError) { return .sqlite(try connection.prepare(query.sqlite)) } catch {
                throw .sqlite(error)
            }
        case .postgres(let link): return .postgres(link.connection.prepare(query.postgres))
        }
    }

    /// Runs a statement that answers no row, and of which nobody asks what it changed: PostgreSQL takes it in its
    /// pipeline, nothing waits for it, and its error shows no later than at the commit.
    @inline(never) func run(_ query: SQLQuery, _ values: any SQLBindable...) throws(SQLError) {
        switch self {
        case .sqlite(let connection): _ = try changes(of: query, values, on: connection)
        case .postgres(let link):
            do throws(PostgresError) {
                try link.connection.run(query.postgres, values.map { PostgresValue($0.sqlValue) })
            } catch { throw .postgres(error) }
        }
    }

    /// As ``run(_:_:)``, for values whose number is found out.
    @inline(never) func run(_ query: SQLQuery, all values: [CopiedValue]) throws(SQLError) {
        switch self {
        case .sqlite(let connection): _ = try changes(of: query, values, on: connection)
        case .postgres(let link):
            do throws(PostgresError) {
                try link.connection.run(query.postgres, values.map { PostgresValue($0.sqlValue) })
            } catch { throw .postgres(error) }
        }
    }

    /// Runs a statement that answers no row.
    /// - Returns: how many rows it changed.
    @inline(never) func rows(changedBy query: SQLQuery, _ values: any SQLBindable...) throws(SQLError) -> Int {
        switch self {
        case .sqlite(let connection): return try changes(of: query, values, on: connection)
        case .postgres(let link):
            do throws(PostgresError) {
                return try link.connection.change(query.postgres, values.map { PostgresValue($0.sqlValue) })
            } catch { throw .postgres(error) }
        }
    }

    /// Runs a script of any number of statements, which takes no parameters.
    @inline(never) func execute(_ script: String) throws(SQLError) {
        switch self {
        case .sqlite(let connection):
            do throws(SQLiteError) { try connection.execute(script) } catch { throw .sqlite(error) }
        case .postgres(let link):
            do throws(PostgresError) { try link.connection.execute(script) } catch { throw .postgres(error) }
        }
    }

    /// False inside a transaction, also one that an error has not yet ended.
    @inline(never) var isOutsideTransaction: Bool {
        switch self {
        case .sqlite(let connection): connection.isOutsideTransaction
        case .postgres(let link): link.connection.isOutsideTransaction
        }
    }

    /// Others write at the same time: what is read without a lock may be another thing when it is written.
    @inline(never) var hasOtherWriters: Bool {
        switch self {
        case .sqlite: false
        case .postgres: true
        }
    }
}

private func changes(
    of query: SQLQuery, _ values: [any SQLBindable], on connection: borrowing SQLiteConnection
) throws(SQLError) -> Int {
    do throws(SQLiteError) {
        return try connection.run(query.sqlite, count: values.count) { values[$0].sqlite }
    } catch { throw .sqlite(error) }
}
