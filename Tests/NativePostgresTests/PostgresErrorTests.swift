// SPDX-License-Identifier: Apache-2.0
import Glibc
import NativePostgres
import NativeSystem
import TestServers
import TestSupport
import Testing

@Suite("Failures of PostgreSQL", .enabled(if: PostgresSchema.hasServer))
struct PostgresErrorTests {
    private static let update = PostgresQuery("UPDATE t SET b = b || 'x' WHERE a = $1")
    private static let read = PostgresQuery("SELECT b FROM t WHERE a = $1")
    private static let sleep = PostgresQuery("SELECT pg_sleep(60)")
    private static let make = """
        CREATE TABLE t (a bigint PRIMARY KEY, b text CONSTRAINT a_word CHECK (b <> 'no'));
        INSERT INTO t VALUES (1, ''), (2, '')
        """

    private func database() async throws -> PostgresSchema {
        let database = try await PostgresSchema()
        try await onOwnThread { try database.connection().execute(Self.make) }
        return database
    }

    @Test("an error has the code and the constraint, and none of the row")
    func constraints() async throws {
        let database = try await database()
        try await onOwnThread {
            let connection = try database.connection()
            let insert = PostgresQuery("INSERT INTO t VALUES ($1, $2)")
            #expect(throws: PostgresError(.unique, sqlState: "23505", constraint: "t_pkey")) {
                try connection.run(insert, 1, "secret")
            }
            let error = #expect(throws: PostgresError.self) { try connection.run(insert, 4711, "no") }
            #expect(error == PostgresError(.constraint, sqlState: "23514", constraint: "a_word"))
            #expect(error?.description == "a rule of the schema refuses the row: a_word (SQLSTATE 23514)")
            #expect(throws: PostgresError(.value, sqlState: "22P02")) {
                try connection.run(PostgresQuery("SELECT $1::integer"), "secret")
            }
        }
    }

    @Test(
        "each code that the server may tell has its kind",
        arguments: [
            ("40001", .conflict), ("40P01", .conflict), ("55P03", .lockTimeout), ("57014", .cancelled),
            ("57P01", .shuttingDown), ("57P03", .shuttingDown), ("25006", .readOnly), ("53100", .diskFull),
            ("53200", .resources), ("53300", .tooManyConnections), ("XX001", .damaged), ("22003", .value),
            ("23503", .constraint), ("42501", .schema), ("08006", .lost), ("P0001", .other),
        ] as [(String, PostgresError.Kind)])
    func codes(_ code: String, _ kind: PostgresError.Kind) async throws {
        let database = try await PostgresSchema()
        try await onOwnThread {
            let connection = try database.connection()
            #expect(throws: PostgresError(kind, sqlState: code)) {
                try connection.execute("DO $$BEGIN RAISE 'secret' USING ERRCODE = '\(code)'; END$$")
            }
            #expect(connection.isUsable == true)
        }
    }

    @Test("of two transactions that wait for each other one is told of a conflict, the other goes on")
    func deadlock() async throws {
        let database = try await database()
        let holding = Locked(0)
        @Sendable func lock(_ first: Int, _ second: Int) async throws -> PostgresError? {
            try await onOwnThread {
                let connection = try database.connection()
                try connection.begin()
                #expect(try connection.change(Self.update, first) == 1)
                holding.withLock { $0 += 1 }
                blockUntil { holding.withLock { $0 } == 2 }
                do throws(PostgresError) {
                    _ = try connection.change(Self.update, second)
                    try connection.commit()
                    return nil
                } catch {
                    connection.rollBack()
                    return error
                }
            }
        }
        async let one = lock(1, 2)
        async let other = lock(2, 1)
        let ends = try await [one, other]
        #expect(ends.count { $0 == nil } == 1)
        #expect(ends.contains(PostgresError(.conflict, sqlState: "40P01")))
    }

    @Test("a row that has changed under a transaction that must not see it is a conflict")
    func serialization() async throws {
        let database = try await database()
        try await onOwnThread {
            let first = try database.connection()
            let second = try database.connection()
            try first.begin()
            try first.run(PostgresQuery("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
            #expect(try first.prepare(PostgresQuery("SELECT a FROM t")).step())
            try second.run(Self.update, 1)
            #expect(throws: PostgresError(.conflict, sqlState: "40001")) { try first.change(Self.update, 1) }
            first.rollBack()
        }
    }

    @Test("locks and statements that take too long have failures of their own")
    func timeouts() async throws {
        let database = try await database()
        try await onOwnThread {
            var settings = database.settings
            settings.lockTimeout = .milliseconds(50)
            let holder = try database.connection()
            let waiter = try PostgresConnection(settings)
            try holder.begin()
            #expect(try holder.change(Self.update, 1) == 1)
            #expect(throws: PostgresError(.lockTimeout, sqlState: "55P03")) { try waiter.change(Self.update, 1) }
            holder.rollBack()
            settings.statementTimeout = .milliseconds(50)
            let slow = try PostgresConnection(settings)
            #expect(throws: PostgresError(.cancelled, sqlState: "57014")) { try slow.run(Self.sleep) }
            #expect(try slow.change(Self.update, 1) == 1)
        }
    }

    @Test("a transaction that only reads refuses to write")
    func readOnly() async throws {
        let database = try await database()
        try await onOwnThread {
            let connection = try database.connection()
            try connection.beginReading()
            #expect(throws: PostgresError(.readOnly, sqlState: "25006")) { try connection.change(Self.update, 1) }
            connection.rollBack()
        }
    }

    @Test("a user who may have no more connections is told so")
    func tooMany() async throws {
        let database = try await database()
        try await onOwnThread {
            try database.asSuperuser("ALTER ROLE \(database.name) CONNECTION LIMIT 1")
            let connection = try database.connection()
            let error = #expect(throws: PostgresError.self) { _ = try database.connection() }
            #expect(error?.kind == .tooManyConnections)
            try connection.run(Self.update, 1)
        }
    }

    @Test("a connection whose server process was ended is lost, certainly not committed, and of no more use")
    func terminated() async throws {
        let database = try await database()
        try await onOwnThread {
            for isReading in [true, false] {
                let connection = try database.connection()
                try connection.begin()
                #expect(try connection.change(Self.update, 1) == 1)
                let process = Int(connection.serverProcess)
                let other = try database.connection()
                try other.run(PostgresQuery("SELECT pg_terminate_backend($1::integer, 20000)"), process)
                let error = #expect(throws: PostgresError.self) {
                    if isReading { _ = try connection.prepare(Self.read).step() } else { try connection.commit() }
                }
                #expect(error?.kind == .lost || error?.kind == .shuttingDown)
                #expect(connection.isUsable == false)
                #expect(connection.isOutsideTransaction == true)
                #expect(throws: PostgresError(.lost)) { try connection.run(Self.update, 1) }
                connection.rollBack()
                let row = other.prepare(Self.read)
                try row.bind(1)
                #expect(try row.step())
                #expect(row.text() == "")
            }
        }
    }

    @Test("where the connection ends while COMMIT is under way, its fate is unknown")
    func unknownCommit() async throws {
        let database = try await database()
        try await onOwnThread {
            try database.connection().execute(
                """
                CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN NULL; END';
                CREATE CONSTRAINT TRIGGER slow AFTER UPDATE ON t DEFERRABLE INITIALLY DEFERRED
                    FOR EACH ROW EXECUTE FUNCTION wait()
                """)
        }
        for severs in [true, false] {
            let (process, interrupter) = (Locked<Int32>(0), Locked<PostgresInterrupter?>(nil))
            async let end = onOwnThread {
                let connection = try database.connection()
                try connection.begin()
                // The severed one's server process goes on to hold its row.
                try connection.run(Self.update, severs ? 1 : 2)
                process.withLock { $0 = connection.serverProcess }
                interrupter.withLock { $0 = connection.interrupter }
                return #expect(throws: PostgresError.self) { try connection.commit() }
            }
            try await onOwnThread {
                let other = try database.connection()
                let asleep = PostgresQuery("SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'")
                blockUntil {
                    let row = other.prepare(asleep)
                    try? row.bind(Int(process.withLock { $0 }))
                    return (try? row.step()) == true
                }
                if severs {
                    interrupter.withLock { $0 }?.sever()
                } else {
                    try other.run(
                        PostgresQuery("SELECT pg_terminate_backend($1::integer)"), Int(process.withLock { $0 }))
                }
            }
            #expect(try await end?.kind == .commitUnknown)
        }
    }

    @Test("another thread can have a statement given up, or end the connection")
    func interrupting() async throws {
        let database = try await database()
        for severs in [false, true] {
            let interrupter = Locked<PostgresInterrupter?>(nil)
            async let end = onOwnThread {
                let connection = try database.connection()
                interrupter.withLock { $0 = connection.interrupter }
                return #expect(throws: PostgresError.self) { try connection.run(Self.sleep) }
            }
            try await onOwnThread {
                let other = try database.connection()
                let asleep = PostgresQuery(
                    "SELECT FROM pg_stat_activity WHERE usename = current_user AND wait_event = 'PgSleep'")
                blockUntil { (try? other.prepare(asleep).step()) == true }
                if severs {
                    interrupter.withLock { $0 }?.sever()
                } else {
                    #expect(interrupter.withLock { $0 }?.cancel() == true)
                }
            }
            #expect(try await end?.kind == (severs ? .lost : .cancelled))
        }
    }

    @Test("a server process that says nothing is not waited for longer than the settings say")
    func silence() async throws {
        let database = try await database()
        try await onOwnThread {
            var settings = database.settings
            settings.answerTimeout = .milliseconds(300)
            let connection = try PostgresConnection(settings)
            kill(connection.serverProcess, SIGSTOP)
            defer { kill(connection.serverProcess, SIGCONT) }
            #expect(throws: PostgresError(.lost, detail: "no answer in time")) { try connection.run(Self.update, 1) }
        }
    }

    @Test("a lock is one connection's until it gives it back or is gone")
    func locks() async throws {
        let database = try await PostgresSchema()
        try await onOwnThread {
            let lock = PostgresLock(kind: .random(in: .min ... .max), id: .random(in: .min..<0))
            let watcher = try database.connection()
            func hold() throws {
                let holder = try database.connection()
                #expect(try holder.locks.take(lock))
                #expect(try holder.locks.isOurs(lock))
                #expect(try watcher.locks.isHeld(lock))
                #expect(try !watcher.locks.isOurs(lock))
                #expect(try !watcher.locks.take(lock))
                #expect(try !watcher.locks.giveBack(lock))
            }
            try hold()
            blockUntil { (try? watcher.locks.isHeld(lock)) == false }
            #expect(try watcher.locks.take(lock))
            #expect(try watcher.locks.giveBack(lock))
            #expect(try !watcher.locks.isHeld(lock))
        }
    }
}
