// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativePostgres
internal import NativeSQLite

extension StoreFailure {
    /// What an error of SQLite means for whoever asked, by what to do next.
    init(_ error: SQLiteError) {
        switch error.kind {
        case .full: self = .retryLater("the disk is full")
        case .busy, .locked: self = .retryLater("another process holds the database; try again when it lets go")
        case .outOfMemory: self = .retryLater("no memory")
        case .interrupted: self = .retryLater("interrupted")
        case .io: self = .outOfReach("the disk fails: \(error)")
        case .readOnly:
            self = .outOfReach("the file cannot be written: \(error): make it, its -wal and its folder this user's")
        case .cannotOpen:
            self = .outOfReach("the file cannot be opened: \(error): is the path right, and is it this user's?")
        case .corrupt, .notADatabase: self = .damaged("\(error)")
        case .constraint: self = .damaged("a rule of the schema refuses the row: \(error)")
        case .other: self = .outOfReach("\(error)")
        }
    }

    /// What an error of PostgreSQL means for whoever asked. Its text has no password, and nothing of any row.
    init(_ error: PostgresError) {
        switch error.kind {
        case .settings, .unreachable, .notAdmitted, .readOnly, .schema, .other: self = .outOfReach("\(error)")
        case .tooManyConnections, .lost, .shuttingDown, .commitUnknown, .conflict, .lockTimeout, .cancelled, .diskFull,
            .resources, .staleStatement:
            self = .retryLater("\(error)")
        case .unique, .constraint, .value, .damaged: self = .damaged("\(error)")
        }
    }

    /// What a statement's error means for whoever asked.
    init(_ error: SQLError) {
        switch error {
        case .sqlite(let error): self.init(error)
        case .postgres(let error): self.init(error)
        case .corrupt: self.init(SQLiteError.corrupt)
        case .constraint: self.init(SQLiteError.constraint)
        }
    }
}

/// What `body` returns, with the failure by what to do next.
func translated<Value: ~Copyable>(_ body: () throws(SQLiteError) -> Value) throws(StoreFailure) -> Value {
    do { return try body() } catch { throw StoreFailure(error) }
}

/// What `body` returns, with the failure by what to do next.
func translated<Value: ~Copyable>(_ body: () throws(SQLError) -> Value) throws(StoreFailure) -> Value {
    do { return try body() } catch { throw StoreFailure(error) }
}
