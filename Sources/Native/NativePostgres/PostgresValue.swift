// SPDX-License-Identifier: Apache-2.0
/// The three types of column in use.
package enum PostgresType: Sendable, Equatable {
    /// `bigint`, which takes truth values too, as 0 and 1.
    case integer
    /// `text`, UTF-8 without U+0000, which PostgreSQL refuses.
    case text
    /// `bytea`
    case bytes
    /// Left to the server to find out.
    case unknown

    /// `pg_type.oid` of the built-in types, which are fixed (catalog/pg_type.dat).
    var oid: UInt32 {
        switch self {
        case .integer: 20
        case .text: 25
        case .bytes: 17
        case .unknown: 0
        }
    }

    init(oid: UInt32) {
        switch oid {
        case 20: self = .integer
        case 25: self = .text
        case 17: self = .bytes
        default: self = .unknown
        }
    }
}

/// One parameter.
package enum PostgresValue: Sendable, Equatable {
    /// A NULL of a type: where the server cannot find out (`$1 IS NULL`), it has to be told.
    case null(PostgresType)
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
    /// Sixteen bytes, those of the two words, most significant first.
    case words(UInt64, UInt64)

    var type: PostgresType {
        switch self {
        case .null(let type): type
        case .integer: .integer
        case .text: .text
        case .bytes, .words: .bytes
        }
    }
}

/// What can be bound to a parameter.
package protocol PostgresBindable {
    static var postgresType: PostgresType { get }
    var postgresValue: PostgresValue { get }
}

extension PostgresValue: PostgresBindable {
    package static var postgresType: PostgresType { .unknown }
    package var postgresValue: PostgresValue { self }
}
extension Int64: PostgresBindable {
    package static var postgresType: PostgresType { .integer }
    package var postgresValue: PostgresValue { .integer(self) }
}
extension Int: PostgresBindable {
    package static var postgresType: PostgresType { .integer }
    package var postgresValue: PostgresValue { .integer(Int64(self)) }
}
extension Bool: PostgresBindable {
    package static var postgresType: PostgresType { .integer }
    package var postgresValue: PostgresValue { .integer(self ? 1 : 0) }
}
extension String: PostgresBindable {
    package static var postgresType: PostgresType { .text }
    package var postgresValue: PostgresValue { .text(self) }
}
extension [UInt8]: PostgresBindable {
    package static var postgresType: PostgresType { .bytes }
    package var postgresValue: PostgresValue { .bytes(self) }
}
extension Optional: PostgresBindable where Wrapped: PostgresBindable {
    package static var postgresType: PostgresType { Wrapped.postgresType }
    package var postgresValue: PostgresValue { map { $0.postgresValue } ?? .null(Wrapped.postgresType) }
}
