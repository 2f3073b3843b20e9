// SPDX-License-Identifier: Apache-2.0
internal import CSQLite
internal import Glibc

/// An open database, for the one thread that opened it, with its prepared statements.
@safe package struct SQLiteConnection: ~Copyable {
    package enum Access: Sendable {
        /// Makes the file where there is none.
        case readWriteCreate
        case readWrite
        case readOnly
        /// The database file as it lies there: no lock is taken, and no write-ahead log is looked at
        /// (sqlite.org/uri.html, `immutable`).
        case fileAlone

        fileprivate var flags: Int32 {
            switch self {
            case .readWriteCreate: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            case .readWrite: SQLITE_OPEN_READWRITE
            case .readOnly: SQLITE_OPEN_READONLY
            case .fileAlone: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            }
        }
    }

    private let handle: OpaquePointer
    private let cache = StatementCache()

    /// Opens the file without SQLite's own mutexes: the connection does not leave its thread.
    /// - Parameters:
    ///   - path: a plain path, never read as a URI.
    ///   - busyTimeout: how long a lock of another connection is waited for, in milliseconds.
    package init(path: String, access: Access, busyTimeout: Int32) throws(SQLiteError) {
        unsafe handle = try openHandle(
            access == .fileAlone ? immutableURI(of: path) : path, access.flags, busyTimeout)
    }

    deinit {
        cache.finalizeAll()
        // A zombie until its last statement is finalized, which has just been done.
        _ = unsafe sqlite3_close_v2(handle)
    }

    /// Runs a script of any number of statements, which takes no parameters.
    package func execute(_ script: String) throws(SQLiteError) {
        try check(unsafe sqlite3_exec(handle, script, nil, nil, nil))
    }

    /// The statement, prepared now or before; it may be used once at a time.
    package func prepare(_ query: SQLiteQuery) throws(SQLiteError) -> SQLiteStatement {
        if let known = cache.statement(of: query) { return SQLiteStatement(known) }
        var text = query.text
        var statement: OpaquePointer?
        let code = text.withUTF8 { utf8 in
            unsafe utf8.withMemoryRebound(to: CChar.self) {
                unsafe sqlite3_prepare_v3(
                    handle, $0.baseAddress, Int32($0.count), UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
            }
        }
        try check(code)
        guard let statement = unsafe statement else { throw SQLiteError(code: SQLITE_MISUSE) }
        let prepared = unsafe PreparedStatement(owning: statement)
        cache.keep(prepared, for: query)
        return SQLiteStatement(prepared)
    }

    /// Runs a statement that answers no row.
    /// - Returns: how many rows it changed.
    @discardableResult
    package func run(_ query: SQLiteQuery, _ values: any SQLiteBindable...) throws(SQLiteError) -> Int {
        try run(query, count: values.count) { values[$0].sqliteValue }
    }

    /// As ``run(_:_:)``, the values asked for by their place from 0 on.
    package func run(_ query: SQLiteQuery, count: Int, _ value: (Int) -> SQLiteValue) throws(SQLiteError) -> Int {
        let statement = try prepare(query)
        try statement.bind(count: count, value)
        while try statement.step() {}
        return unsafe Int(sqlite3_changes64(handle))
    }

    /// False inside a transaction, also one that an error has not yet ended.
    package var isOutsideTransaction: Bool { unsafe sqlite3_get_autocommit(handle) != 0 }
}

/// A path as a URI of SQLite's, each byte that has a meaning there escaped.
private func immutableURI(of path: String) -> String {
    let plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/".utf8
    let digits = Array("0123456789ABCDEF".utf8)
    var uri = Array("file:".utf8)
    for byte in path.utf8 {
        if plain.contains(byte) {
            uri.append(byte)
        } else {
            uri += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
    return String(decoding: uri, as: UTF8.self) + "?immutable=1"
}

/// Opened, with extended result codes; what was opened half-way is closed before the error is thrown.
private func openHandle(_ path: String, _ flags: Int32, _ busyTimeout: Int32) throws(SQLiteError) -> OpaquePointer {
    _ = isMemorySetUp
    var opened: OpaquePointer?
    let code = unsafe sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
    guard let handle = unsafe opened else { throw SQLiteError(code: code == SQLITE_OK ? SQLITE_NOMEM : code) }
    do {
        try check(code)
        let context = unsafe UnsafeMutableRawPointer(bitPattern: Int(max(0, busyTimeout)))
        try check(unsafe sqlite3_busy_handler(handle, waitForLock, context))
        return unsafe handle
    } catch {
        _ = unsafe sqlite3_close_v2(handle)
        throw error
    }
}

/// Called by SQLite while another connection holds a lock: 1 to try again, 0 to give up (sqlite3_busy_handler).
///
/// Looks again every half millisecond; SQLite's own handler sleeps up to 100 ms, and a process that writes all the
/// time would keep another one out.
/// - Parameters:
///   - context: the time-out in milliseconds, in the pointer's own bits.
///   - tries: how often it was called for this lock.
private func waitForLock(_ context: UnsafeMutableRawPointer?, _ tries: Int32) -> Int32 {
    let milliseconds = Int(bitPattern: context)
    guard Int(tries) < milliseconds * 2 else { return 0 }
    usleep(500)
    return 1
}

/// A connection's statements by the query objects that they were prepared of.
final class StatementCache {
    // The query is kept too: its identity must not come back for another text.
    private var statements: [ObjectIdentifier: (query: SQLiteQuery, prepared: PreparedStatement)] = [:]

    func statement(of query: SQLiteQuery) -> PreparedStatement? { statements[ObjectIdentifier(query)]?.prepared }

    func keep(_ prepared: PreparedStatement, for query: SQLiteQuery) {
        statements[ObjectIdentifier(query)] = (query, prepared)
    }

    func finalizeAll() { statements.removeAll() }
}
