// SPDX-License-Identifier: Apache-2.0
import NativeSQLite
import Testing

@Suite("SQLite connections")
struct SQLiteConnectionTests {
    private static let insert = SQLiteQuery("INSERT INTO t (a, b, c, d) VALUES (?, ?, ?, ?)")
    private static let select = SQLiteQuery("SELECT a, b, c, d, a, b, c FROM t")
    private static let make = "CREATE TABLE t (a INTEGER, b TEXT, c BLOB, d TEXT UNIQUE) STRICT"

    private func connection() throws(SQLiteError) -> SQLiteConnection {
        try SQLiteConnection(path: ":memory:", access: .readWriteCreate, busyTimeout: 0)
    }

    @Test("integers, text with a NUL, blobs, empty ones and nothing come back as they went in")
    func values() throws {
        let connection = try connection()
        try connection.execute(Self.make)
        try connection.run(Self.insert, Int64.min, "a\u{0}\u{e4}", [0, 255] as [UInt8], nil as String?)
        try connection.run(Self.insert, nil as Int64?, "", [] as [UInt8], "x")
        let rows = try connection.prepare(Self.select)
        #expect(try rows.step())
        #expect(rows.integer() == .min)
        #expect(rows.text() == "a\u{0}\u{e4}")
        #expect(rows.blob() == [0, 255])
        #expect(rows.optionalText() == nil)
        #expect(rows.optionalInteger() == .min)
        #expect(try rows.step())
        #expect(rows.optionalInteger() == nil)
        #expect(rows.optionalText() == "")
        #expect(rows.optionalBlob() == [])
        #expect(try !rows.step())
    }

    @Test("values of any length stand side by side, and the next use of a statement has none of the last")
    func longValues() throws {
        let connection = try connection()
        try connection.execute(Self.make)
        let rows = [(9000, 20_000), (3, 5), (4096, 1), (0, 4096)]
        for (number, (characters, bytes)) in rows.enumerated() {
            try connection.run(
                Self.insert, number, String(repeating: "\(number)", count: characters),
                [UInt8](repeating: UInt8(number), count: bytes), "end \(number)")
        }
        let found = try connection.prepare(Self.select)
        for (number, (characters, bytes)) in rows.enumerated() {
            #expect(try found.step())
            #expect(found.integer() == Int64(number))
            #expect(found.text() == String(repeating: "\(number)", count: characters))
            #expect(found.blob() == [UInt8](repeating: UInt8(number), count: bytes))
            #expect(found.optionalText() == "end \(number)")
        }
    }

    @Test("an error has its extended code and tells no value")
    func errors() throws {
        let connection = try connection()
        try connection.execute(Self.make)
        try connection.run(Self.insert, 1, "secret", [] as [UInt8], "secret")
        let error = #expect(throws: SQLiteError.self) {
            try connection.run(Self.insert, 1, "secret", [] as [UInt8], "secret")
        }
        #expect(error?.code == 2067)
        #expect(error?.kind == .constraint)
        #expect(error.map { "\($0)" } == "constraint failed (SQLite 2067)")
    }

    @Test("a statement works again after an error, and a missing value is an error")
    func reuse() throws {
        let connection = try connection()
        try connection.execute(Self.make)
        for text in ["x", "x", "y"] { _ = try? connection.run(Self.insert, 1, "", [] as [UInt8], text) }
        #expect(throws: SQLiteError.self) { try connection.run(Self.insert, 1) }
        let rows = try connection.prepare(Self.select)
        #expect(try rows.step())
        #expect(try rows.step())
        #expect(try !rows.step())
    }

    @Test("a file that is no database is told as such")
    func notADatabase() throws {
        #expect(throws: SQLiteError.self) {
            let connection = try SQLiteConnection(path: "/proc/self/exe", access: .readOnly, busyTimeout: 0)
            try connection.execute("SELECT * FROM sqlite_schema")
        }
    }
}
