// SPDX-License-Identifier: Apache-2.0
internal import NativePostgres
internal import NativeSQLite

/// The three kinds of column; floating point has no use here.
enum SQLKind: Sendable { case integer, text, blob }

/// One value of a store's column.
enum SQLValue: Sendable, Equatable {
    /// NULL in a column of that kind.
    case null(SQLKind)
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    /// A blob of sixteen bytes, those of the two words, most significant first.
    case words(UInt64, UInt64)
}

/// What can be bound to a parameter.
protocol SQLBindable {
    /// A server has to be told it of a NULL too.
    static var sqlKind: SQLKind { get }
    var sqlValue: SQLValue { get }
    /// The same for a file, to which a NULL's kind is nothing. Of its own, for each value is bound there by itself, and
    /// one turned into another costs as much as binding it.
    var sqlite: SQLiteValue { get }
}

extension SQLBindable { var sqlite: SQLiteValue { SQLiteValue(sqlValue) } }

extension Int64: SQLBindable {
    static var sqlKind: SQLKind { .integer }
    var sqlValue: SQLValue { .integer(self) }
    var sqlite: SQLiteValue { .integer(self) }
}
extension Int: SQLBindable {
    static var sqlKind: SQLKind { .integer }
    var sqlValue: SQLValue { .integer(Int64(self)) }
}
extension Bool: SQLBindable {
    static var sqlKind: SQLKind { .integer }
    var sqlValue: SQLValue { .integer(self ? 1 : 0) }
}
extension String: SQLBindable {
    static var sqlKind: SQLKind { .text }
    var sqlValue: SQLValue { .text(self) }
    var sqlite: SQLiteValue { .text(self) }
}
extension [UInt8]: SQLBindable {
    static var sqlKind: SQLKind { .blob }
    var sqlValue: SQLValue { .blob(self) }
}
extension Optional: SQLBindable where Wrapped: SQLBindable {
    static var sqlKind: SQLKind { Wrapped.sqlKind }
    // A closure, not a key path: in generic code the runtime would build one for each call.
    var sqlValue: SQLValue { map { $0.sqlValue } ?? .null(Wrapped.sqlKind) }
    var sqlite: SQLiteValue { map { $0.sqlite } ?? .null }
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

extension PostgresValue {
    init(_ value: SQLValue) {
        self =
            switch value {
            case .null(.integer): .null(.integer)
            case .null(.text): .null(.text)
            case .null(.blob): .null(.bytes)
            case .integer(let number): .integer(number)
            case .text(let text): .text(storableText(text))
            case .blob(let bytes): .bytes(bytes)
            case .words(let high, let low): .words(high, low)
            }
    }
}

/// PostgreSQL's text holds no U+0000, which a provider may have put into a scope: no answer is lost to it.
func storableText(_ text: String) -> String {
    guard text.utf8.contains(0) else { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }))
}
