// SPDX-License-Identifier: Apache-2.0
internal import NativePostgres
internal import NativeSQLite

/// Why a statement was not done.
enum SQLError: Error, Sendable, Equatable {
    case sqlite(SQLiteError)
    /// Boxed: its texts would make every result that may be one as large.
    indirect case postgres(PostgresError)
    /// Rows that hold what nobody can have written there.
    case corrupt
    /// A row that a rule of the schema keeps out.
    case constraint
}
