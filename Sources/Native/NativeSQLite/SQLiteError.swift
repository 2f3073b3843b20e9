// SPDX-License-Identifier: Apache-2.0
internal import CSQLite

/// What SQLite refused: its extended result code and SQLite's own fixed sentence for it, never SQL or a parameter
/// (sqlite.org/rescode.html).
package struct SQLiteError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Kind: Sendable, Equatable {
        case busy, locked, full, io, readOnly, cannotOpen, corrupt, notADatabase, constraint, outOfMemory, interrupted
        case other
    }

    /// The extended result code.
    package let code: Int32

    package init(code: Int32) { self.code = code }

    /// Rows that hold what nobody can have written there.
    package static let corrupt = SQLiteError(code: SQLITE_CORRUPT)
    /// A row that a rule of the schema keeps out.
    package static let constraint = SQLiteError(code: SQLITE_CONSTRAINT)

    /// The primary result code, by name.
    package var kind: Kind {
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_PROTOCOL: .busy
        case SQLITE_LOCKED: .locked
        case SQLITE_FULL: .full
        case SQLITE_IOERR: .io
        case SQLITE_READONLY, SQLITE_PERM: .readOnly
        case SQLITE_CANTOPEN: .cannotOpen
        case SQLITE_CORRUPT: .corrupt
        case SQLITE_NOTADB: .notADatabase
        case SQLITE_CONSTRAINT: .constraint
        case SQLITE_NOMEM: .outOfMemory
        case SQLITE_INTERRUPT: .interrupted
        default: .other
        }
    }

    package var description: String {
        guard let sentence = unsafe sqlite3_errstr(code) else { return "SQLite error \(code)" }
        return unsafe "\(String(cString: sentence)) (SQLite \(code))"
    }
}

/// Every result code of this room goes through here.
func check(_ code: Int32) throws(SQLiteError) {
    guard code == SQLITE_OK else { throw SQLiteError(code: code) }
}
