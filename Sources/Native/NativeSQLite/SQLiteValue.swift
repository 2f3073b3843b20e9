// SPDX-License-Identifier: Apache-2.0
/// One of SQLite's values; floating point has no use here.
package enum SQLiteValue: Sendable, Equatable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    /// A blob of sixteen bytes, those of the two words, most significant first.
    case words(UInt64, UInt64)
}

/// What can be bound to a parameter.
package protocol SQLiteBindable { var sqliteValue: SQLiteValue { get } }

extension SQLiteValue: SQLiteBindable { package var sqliteValue: SQLiteValue { self } }
extension Int64: SQLiteBindable { package var sqliteValue: SQLiteValue { .integer(self) } }
extension Int: SQLiteBindable { package var sqliteValue: SQLiteValue { .integer(Int64(self)) } }
extension Bool: SQLiteBindable { package var sqliteValue: SQLiteValue { .integer(self ? 1 : 0) } }
extension String: SQLiteBindable { package var sqliteValue: SQLiteValue { .text(self) } }
extension [UInt8]: SQLiteBindable { package var sqliteValue: SQLiteValue { .blob(self) } }
extension Optional: SQLiteBindable where Wrapped: SQLiteBindable {
    // A closure, not a key path: in generic code the runtime would build one for each call.
    package var sqliteValue: SQLiteValue { map { $0.sqliteValue } ?? .null }
}
