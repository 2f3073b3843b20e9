// SPDX-License-Identifier: Apache-2.0
internal import CSQLite

/// One use of a prepared statement: bind, step, take the columns from left to right. Its end makes the statement
/// ready for the next use and forgets the values that were bound.
@safe package struct SQLiteStatement: ~Copyable {
    private let prepared: PreparedStatement

    init(_ prepared: PreparedStatement) {
        precondition(!prepared.isInUse, "a prepared statement is used twice at a time")
        prepared.isInUse = true
        self.prepared = prepared
    }

    deinit {
        // Tells again what the last step told, which was thrown then.
        _ = unsafe sqlite3_reset(prepared.handle)
        _ = unsafe sqlite3_clear_bindings(prepared.handle)
        prepared.isInUse = false
    }

    /// Gives the parameters their values, first to last.
    package func bind(_ values: any SQLiteBindable...) throws(SQLiteError) {
        try bind(count: values.count) { values[$0].sqliteValue }
    }

    /// Gives the parameters their values, asked for by their place from 0 on.
    // Not a pack of types: unspecialized across modules, it would ask the runtime for the metadata of every value.
    package func bind(count: Int, _ value: (Int) -> SQLiteValue) throws(SQLiteError) {
        guard unsafe count == Int(sqlite3_bind_parameter_count(prepared.handle)) else {
            throw SQLiteError(code: SQLITE_RANGE)
        }
        prepared.bound.startOver()
        for position in 0..<count { try bind(value(position), at: Int32(position + 1)) }
    }

    private func bind(_ value: SQLiteValue, at position: Int32) throws(SQLiteError) {
        switch value {
        case .null: try check(unsafe sqlite3_bind_null(prepared.handle, position))
        case .integer(let number): try check(unsafe sqlite3_bind_int64(prepared.handle, position, number))
        case .text(var text):
            let (start, count) = text.withUTF8 { unsafe prepared.bound.keep(UnsafeRawBufferPointer($0)) }
            try check(unsafe csqlite_bind_text_in_place(prepared.handle, position, start, UInt64(count)))
        case .blob(let bytes):
            try unsafe bind(bytes.withUnsafeBytes { unsafe prepared.bound.keep($0) }, at: position)
        case .words(let high, let low):
            let words = (high.bigEndian, low.bigEndian)
            try unsafe bind(withUnsafeBytes(of: words) { unsafe prepared.bound.keep($0) }, at: position)
        }
    }

    private func bind(_ blob: (start: UnsafeRawPointer, count: Int), at position: Int32) throws(SQLiteError) {
        try check(unsafe csqlite_bind_blob_in_place(prepared.handle, position, blob.start, UInt64(blob.count)))
    }

    /// Goes to the next row.
    /// - Returns: false after the last one.
    package func step() throws(SQLiteError) -> Bool {
        unsafe prepared.column.pointee = 0
        switch unsafe sqlite3_step(prepared.handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw SQLiteError(code: code)
        }
    }

    /// The next column's integer; 0 where the row holds something else.
    package func integer() -> Int64 { unsafe sqlite3_column_int64(prepared.handle, next()) }

    /// The next column's integer, nil for NULL.
    package func optionalInteger() -> Int64? {
        let column = next()
        return isNull(column) ? nil : unsafe sqlite3_column_int64(prepared.handle, column)
    }

    /// The next column's text by its length, with whatever U+0000 it holds; empty for NULL.
    package func text() -> String { text(next()) }

    package func optionalText() -> String? {
        let column = next()
        return isNull(column) ? nil : text(column)
    }

    /// The next column's bytes; empty for NULL.
    package func blob() -> [UInt8] { blob(next()) }

    package func optionalBlob() -> [UInt8]? {
        let column = next()
        return isNull(column) ? nil : blob(column)
    }

    private func next() -> Int32 {
        let column = unsafe prepared.column.pointee
        unsafe prepared.column.pointee = column + 1
        return column
    }

    private func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(prepared.handle, column) == SQLITE_NULL }

    private func text(_ column: Int32) -> String {
        guard let start = unsafe sqlite3_column_text(prepared.handle, column) else { return "" }
        let count = unsafe Int(sqlite3_column_bytes(prepared.handle, column))
        return unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    private func blob(_ column: Int32) -> [UInt8] {
        guard let start = unsafe sqlite3_column_blob(prepared.handle, column) else { return [] }
        let count = unsafe Int(sqlite3_column_bytes(prepared.handle, column))
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }
}

/// The one owner of a `sqlite3_stmt`; never leaves its connection's thread.
@safe final class PreparedStatement {
    let handle: OpaquePointer
    var isInUse = false
    /// The one that is taken next. In a place of its own, for the runtime watches over each access to a variable of an
    /// object.
    let column: UnsafeMutablePointer<Int32>
    let bound = BoundBytes()

    init(owning handle: OpaquePointer) {
        unsafe self.handle = handle
        unsafe column = .allocate(capacity: 1)
        unsafe column.initialize(to: 0)
    }

    deinit {
        _ = unsafe sqlite3_finalize(handle)
        unsafe column.deallocate()
    }
}
