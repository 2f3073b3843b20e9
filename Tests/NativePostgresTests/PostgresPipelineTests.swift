// SPDX-License-Identifier: Apache-2.0
import NativePostgres
import TestServers
import TestSupport
import Testing

@Suite("PostgreSQL pipelines and transactions", .enabled(if: PostgresSchema.hasServer))
struct PostgresPipelineTests {
    private static let insert = PostgresQuery("INSERT INTO t (a) VALUES ($1)")
    private static let late = PostgresQuery("INSERT INTO late (a) VALUES ($1)")
    private static let all = PostgresQuery("SELECT a FROM t ORDER BY a")
    private static let make = """
        CREATE TABLE t (a bigint CONSTRAINT one_of_each UNIQUE);
        CREATE TABLE late (a bigint CONSTRAINT one_at_the_end UNIQUE DEFERRABLE INITIALLY DEFERRED)
        """

    private func onConnection(_ body: @escaping @Sendable (borrowing PostgresConnection) throws -> Void) async throws {
        let database = try await PostgresSchema()
        try await onOwnThread {
            let connection = try database.connection()
            try connection.execute(Self.make)
            try body(connection)
            #expect(connection.isOutsideTransaction == true)
        }
    }

    private func numbers(_ connection: borrowing PostgresConnection) throws -> [Int64] {
        let rows = connection.prepare(Self.all)
        var found: [Int64] = []
        while try rows.step() { found.append(rows.integer()) }
        return found
    }

    @Test("a batch is queued, a read in it sees what was queued before, and all of it is committed")
    func batch() async throws {
        try await onConnection { connection in
            try connection.begin()
            #expect(connection.isOutsideTransaction == false)
            try connection.run(Self.insert, 1)
            try connection.run(Self.insert, 2)
            #expect(try numbers(connection) == [1, 2])
            #expect(connection.isOutsideTransaction == false)
            try connection.run(Self.insert, 3)
            #expect(try connection.change(PostgresQuery("UPDATE t SET a = a + 10 WHERE a > $1"), 1) == 2)
            try connection.commit()
            #expect(try numbers(connection) == [1, 12, 13])
            try connection.begin()
            try connection.run(Self.insert, 4)
            connection.rollBack()
            #expect(try numbers(connection) == [1, 12, 13])
        }
    }

    @Test("a batch of 20,000 statements, more than all buffers hold, does not stand still")
    func large() async throws {
        try await onConnection { connection in
            let noisy = PostgresQuery("INSERT INTO t (a) VALUES ($1) RETURNING repeat('x', 500)")
            try connection.begin()
            for number in 0..<20_000 { try connection.run(noisy, number) }
            try connection.commit()
            #expect(try numbers(connection).count == 20_000)
        }
    }

    @Test("the error of a queued statement is thrown at commit, every time until the transaction is taken back")
    func errorAtCommit() async throws {
        try await onConnection { connection in
            try connection.begin()
            try connection.run(Self.insert, 1)
            try connection.run(Self.insert, 1)
            try connection.run(Self.insert, 2)
            let expected = PostgresError(.unique, sqlState: "23505", constraint: "one_of_each")
            #expect(throws: expected) { try connection.commit() }
            #expect(connection.isOutsideTransaction == false)
            #expect(throws: expected) { try connection.run(Self.insert, 3) }
            #expect(throws: expected) { try connection.commit() }
            connection.rollBack()
            #expect(try numbers(connection) == [])
            #expect(connection.isUsable == true)
        }
    }

    @Test("the error of a queued statement is thrown at the next read")
    func errorAtRead() async throws {
        try await onConnection { connection in
            try connection.begin()
            try connection.run(PostgresQuery("INSERT INTO nowhere VALUES (1)"))
            try connection.run(Self.insert, 1)
            #expect(throws: PostgresError(.schema, sqlState: "42P01")) { try numbers(connection) }
            connection.rollBack()
            #expect(try numbers(connection) == [])
            // What was prepared behind the error is prepared again.
            try connection.run(Self.insert, 1)
            #expect(try numbers(connection) == [1])
        }
    }

    @Test("what fails behind a mark is taken back alone")
    func marks() async throws {
        try await onConnection { connection in
            try connection.begin()
            try connection.mark()
            try connection.run(Self.insert, 1)
            try connection.release()
            try connection.mark()
            try connection.run(Self.insert, 2)
            try connection.run(Self.insert, 1)
            #expect(throws: PostgresError.self) { try connection.release() }
            try connection.takeBack()
            try connection.mark()
            try connection.run(Self.insert, 1)
            try connection.run(Self.insert, 4)
            // Nobody has heard of its failure yet.
            try connection.takeBack()
            try connection.mark()
            try connection.run(Self.insert, 3)
            try connection.release()
            try connection.commit()
            #expect(try numbers(connection) == [1, 3])
        }
    }

    @Test("a rule that is looked at by COMMIT fails there, and the transaction is over")
    func failingCommit() async throws {
        try await onConnection { connection in
            try connection.begin()
            try connection.run(Self.late, 1)
            try connection.run(Self.late, 1)
            try connection.run(Self.insert, 1)
            #expect(throws: PostgresError(.unique, sqlState: "23505", constraint: "one_at_the_end")) {
                try connection.commit()
            }
            #expect(connection.isOutsideTransaction == true)
            #expect(try numbers(connection) == [])
        }
    }

    @Test("a text with U+0000 is refused before it is sent, and the transaction goes on")
    func zero() async throws {
        try await onConnection { connection in
            try connection.begin()
            try connection.run(Self.insert, 1)
            #expect(throws: PostgresError(.value, detail: "a text with U+0000")) {
                try connection.run(PostgresQuery("SELECT $1"), "a\u{0}b")
            }
            try connection.commit()
            #expect(try numbers(connection) == [1])
        }
    }

    @Test("NULLs and values of one parameter may come in any order")
    func types() async throws {
        try await onConnection { connection in
            let query = PostgresQuery("SELECT coalesce($1, 7)")
            for value in [.null(.unknown), .integer(1), .null(.integer), .integer(2)] as [PostgresValue] {
                let row = connection.prepare(query)
                try row.bind(value)
                #expect(try row.step())
                if case .integer(let number) = value {
                    #expect(row.integer() == number)
                } else {
                    #expect(row.integer() == 7)
                }
            }
        }
    }

    @Test("a statement is prepared once, whichever of its values are NULL")
    func preparedOnce() async throws {
        try await onConnection { connection in
            let query = PostgresQuery("INSERT INTO t (a) SELECT $1::bigint WHERE $2::text = 'x' AND $3::bytea <> ''")
            let values: [[PostgresValue]] = [
                [.null(.unknown), .null(.unknown), .null(.unknown)], [.integer(1), .null(.unknown), .null(.unknown)],
                [.null(.unknown), .text("x"), .bytes([1])], [.integer(2), .text("x"), .null(.unknown)],
            ]
            for _ in 0..<2 { for values in values { try connection.run(query, values) } }
            let count = connection.prepare(
                PostgresQuery("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE 'INSERT%'"))
            #expect(try count.step())
            #expect(count.integer() == 1)
        }
    }

    @Test("a statement whose table has changed is prepared anew after one failure")
    func stale() async throws {
        try await onConnection { connection in
            let query = PostgresQuery("SELECT * FROM t")
            #expect(try !connection.prepare(query).step())
            try connection.execute("ALTER TABLE t ADD COLUMN b text")
            #expect(throws: PostgresError(.staleStatement, sqlState: "0A000")) { try connection.prepare(query).step() }
            #expect(try !connection.prepare(query).step())
            try connection.execute("DEALLOCATE ALL")
            #expect(throws: PostgresError(.staleStatement, sqlState: "26000")) { try connection.prepare(query).step() }
            #expect(try !connection.prepare(query).step())
        }
    }

    @Test("a script that fails leaves nothing behind, inside a transaction too")
    func scripts() async throws {
        try await onConnection { connection in
            #expect(throws: PostgresError(.schema, sqlState: "42P01")) {
                try connection.execute("INSERT INTO t VALUES (1); INSERT INTO nowhere VALUES (1)")
            }
            try connection.begin()
            try connection.run(Self.insert, 5)
            try connection.execute("INSERT INTO t VALUES (6); INSERT INTO t VALUES (7)")
            try connection.commit()
            try connection.begin()
            #expect(throws: PostgresError.self) { try connection.execute("INSERT INTO t VALUES (8); SELECT 1/0") }
            #expect(throws: PostgresError(.value, sqlState: "22012")) { try connection.commit() }
            connection.rollBack()
            #expect(try numbers(connection) == [5, 6, 7])
        }
    }

    @Test("as behind a pooler nothing is prepared, and a statement alone brings its settings along")
    func pooled() async throws {
        let database = try await PostgresSchema()
        try await onOwnThread {
            var settings = database.settings
            settings.isPooled = true
            let connection = try PostgresConnection(settings)
            try connection.execute(Self.make)
            let timeout = PostgresQuery(
                "SELECT current_setting('statement_timeout'), (SELECT count(*) FROM pg_prepared_statements)")
            func check(_ connection: borrowing PostgresConnection) throws {
                let row = connection.prepare(timeout)
                #expect(try row.step())
                #expect(row.text() == "30s")
                #expect(row.integer() == 0)
            }
            try check(connection)
            #expect(throws: PostgresError.self) { try connection.run(PostgresQuery("SELECT 1/0")) }
            #expect(connection.isOutsideTransaction == true)
            try connection.run(Self.insert, 1)
            try connection.begin()
            try check(connection)
            try connection.run(Self.insert, 2)
            try connection.commit()
            #expect(try numbers(connection) == [1, 2])
        }
    }
}
