// SPDX-License-Identifier: Apache-2.0
import NativePostgres
import NativeSystem
import TestServers
import TestSupport
import Testing

@Suite("PostgreSQL connections", .enabled(if: PostgresSchema.hasServer))
struct PostgresConnectionTests {
    private static let insert = PostgresQuery("INSERT INTO t (a, b, c, d) VALUES ($1, $2, $3, $4)")
    private static let select = PostgresQuery("SELECT a, b, c, d, a, b, c FROM t ORDER BY n")
    private static let make = """
        CREATE TABLE t (n bigint GENERATED ALWAYS AS IDENTITY, a bigint, b text, c bytea,
            d text CONSTRAINT only_one UNIQUE DEFERRABLE INITIALLY IMMEDIATE)
        """

    @Test("integers, text, bytes, empty ones and nothing come back as they went in")
    func values() async throws {
        let database = try await PostgresSchema()
        try await onOwnThread {
            let connection = try database.connection()
            try connection.execute(Self.make)
            let long = [UInt8](repeating: 0, count: 1 << 20)
            try connection.run(Self.insert, Int64.min, "\u{e4}\u{1F600}'\\", [0, 255] as [UInt8], nil as String?)
            try connection.run(Self.insert, Int64.max, "", [] as [UInt8], "x")
            try connection.run(Self.insert, nil as Int64?, nil as String?, nil as [UInt8]?, "y")
            try connection.run(Self.insert, true, String(repeating: "\u{e4}", count: 500_000), long, "z")
            let rows = connection.prepare(Self.select)
            #expect(try rows.step())
            #expect(rows.integer() == .min)
            #expect(rows.text() == "\u{e4}\u{1F600}'\\")
            #expect(rows.blob() == [0, 255])
            #expect(rows.optionalText() == nil)
            #expect(rows.optionalInteger() == .min)
            #expect(try rows.step())
            #expect(rows.optionalInteger() == .max)
            #expect(rows.optionalText() == "")
            #expect(rows.optionalBlob() == [])
            #expect(try rows.step())
            #expect(rows.optionalInteger() == nil)
            #expect(rows.optionalText() == nil)
            #expect(rows.optionalBlob() == nil)
            #expect(rows.text() == "y")
            #expect(rows.integer() == 0)
            #expect(rows.text() == "")
            #expect(rows.blob() == [])
            #expect(try rows.step())
            #expect(rows.integer() == 1)
            #expect(rows.text().utf8.count == 1_000_000)
            #expect(rows.blob() == long)
            #expect(try !rows.step())
        }
    }

    @Test("whole numbers of every type of the server are read, sums and truth values too")
    func numbers() async throws {
        let database = try await PostgresSchema()
        try await onOwnThread {
            let connection = try database.connection()
            let row = connection.prepare(
                PostgresQuery(
                    """
                    SELECT (-2)::smallint, (-70000)::integer, true, false, count(*), sum(9223372036854775807::bigint),
                        (-1234567890123)::numeric, 40000::numeric, 0::numeric, 1e30::numeric, 'x'
                    """))
            #expect(try row.step())
            let found = (0..<11).map { _ in row.integer() }
            #expect(found == [-2, -70000, 1, 0, 1, .max, -1_234_567_890_123, 40000, 0, 0, 0])
        }
    }

    @Test("a connection has its settings, and the server's commits wait for its disk whatever the server's default is")
    func settings() async throws {
        let database = try await PostgresSchema()
        try await onOwnThread {
            try database.asSuperuser("ALTER ROLE \(database.name) SET synchronous_commit = off")
            let connection = try database.connection()
            let row = connection.prepare(
                PostgresQuery(
                    """
                    SELECT current_setting('synchronous_commit'), current_setting('statement_timeout'),
                        current_setting('lock_timeout'), current_setting('idle_in_transaction_session_timeout'),
                        current_setting('TimeZone'), current_setting('client_encoding'),
                        current_setting('application_name')
                    """))
            #expect(try row.step())
            let found = (0..<7).map { _ in row.text() }
            #expect(found == ["on", "30s", "20s", "1min", "UTC", "UTF8", "test"])
            #expect(connection.facts.version >= 150_000)
            #expect(!connection.facts.isInRecovery)
            #expect(connection.facts.isDurable)
            #expect(connection.facts.encoding == "UTF8")
        }
    }

    @Test("parameters written as question marks are numbered, but not those in quotes and comments")
    func questionMarks() {
        let query = PostgresQuery(
            questionMarks: "SELECT ?, '?''?', \"?\", ?3, ? -- it's ?\nWHERE a = ?1 AND b = '' AND c = ?")
        #expect(
            query.text == "SELECT $1, '?''?', \"?\", $3, $2 -- it's ?\nWHERE a = $1 AND b = '' AND c = $3")
    }
}
