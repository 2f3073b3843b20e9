// SPDX-License-Identifier: Apache-2.0
internal import NativeSQLite

/// One value of a store's column; floating point has no use here.
enum SQLValue: Sendable, Equatable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    /// A blob of sixteen bytes, those of the two words, most significant first.
    case words(UInt64, UInt64)
}

/// What can be bound to a parameter.
protocol SQLBindable { var sqlValue: SQLValue { get } }

extension SQLValue: SQLBindable { var sqlValue: SQLValue { self } }
extension Int64: SQLBindable { var sqlValue: SQLValue { .integer(self) } }
extension Int: SQLBindable { var sqlValue: SQLValue { .integer(Int64(self)) } }
extension Bool: SQLBindable { var sqlValue: SQLValue { .integer(self ? 1 : 0) } }
extension String: SQLBindable { var sqlValue: SQLValue { .text(self) } }
extension [UInt8]: SQLBindable { var sqlValue: SQLValue { .blob(self) } }
extension Optional: SQLBindable where Wrapped: SQLBindable {
    // A closure, not a key path: in generic code the runtime would build one for each call.
    var sqlValue: SQLValue { map { $0.sqlValue } ?? .null }
}

extension SQLiteValue {
    init(_ value: SQLValue) {
        self =
            switch value {
            case .null: .null
            case .integer(let number): .integer(number)
            case .text(let text): .text(text)
            case .blob(let bytes): .blob(bytes)
            case .words(let high, let low): .words(high, low)
            }
    }
}
