// SPDX-License-Identifier: Apache-2.0
import NativePostgres
import TestServers
import TestSupport
import Testing

@Suite("PostgreSQL behind PgBouncer in transaction mode", .enabled(if: PostgresDatabase.hasServer))
struct PostgresPoolerTests {
    private static let insert = PostgresQuery("INSERT INTO t (a, b) VALUES ($1, $2)")
    private static let count = PostgresQuery("SELECT count(*) FROM t WHERE a = $1")
    private static let settings = PostgresQuery(
        "SELECT current_setting('statement_timeout'), current_setting('synchronous_commit'), current_setting('TimeZone')"
    )

    private func pooled(_ url: String) -> PostgresSettings {
        var settings = PostgresSettings.forTests(url)
        settings.isPooled = true
        return settings
    }

    /// One caller among several on two connections: batches, reads, what fails and what is taken back.
    private func work(_ url: String, _ caller: Int) throws {
        let connection = try PostgresConnection(pooled(url))
        func checkSettings(_ connection: borrowing PostgresConnection) throws {
            let row = connection.prepare(Self.settings)
            #expect(try row.step())
            #expect([row.text(), row.text(), row.text()] == ["30s", "on", "UTC"])
        }
        for round in 0..<20 {
            try connection.begin()
            for number in 0..<5 { try connection.run(Self.insert, caller, 10 * round + number) }
            try checkSettings(connection)
            try connection.commit()
            try connection.begin()
            try connection.run(Self.insert, caller, 10 * round + 9)
            try connection.run(Self.insert, caller, 10 * round)
            #expect(throws: PostgresError(.unique, sqlState: "23505", constraint: "t_pkey")) { try connection.commit() }
            connection.rollBack()
            try connection.run(Self.insert, caller, 10 * round + 8)
            try checkSettings(connection)
            let row = connection.prepare(Self.count)
            try row.bind(caller)
            #expect(try row.step())
            #expect(row.integer() == Int64(6 * (round + 1)))
        }
    }

    @Test("six callers on two connections have their settings and their rows, and leave nothing behind in either")
    func sharing() async throws {
        let cluster = try await PostgresCluster(["fsync=off", "synchronous_commit=off", "TimeZone=Europe/Berlin"])
        let url = try await cluster.pooler()
        let direct = cluster.url
        try await onOwnThread {
            try PostgresConnection(self.pooled(url)).execute("CREATE TABLE t (a bigint, b bigint, PRIMARY KEY (a, b))")
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<6 { group.addTask { try await onOwnThread { try self.work(url, caller) } } }
            try await group.waitForAll()
        }
        try await onOwnThread {
            let row = try PostgresConnection(.forTests(direct)).prepare(
                PostgresQuery("SELECT count(*), (SELECT count(*) FROM pg_stat_activity WHERE backend_type = $1) FROM t")
            )
            try row.bind("client backend")
            #expect(try row.step())
            #expect(row.integer() == 6 * 20 * 6)
            #expect(row.integer() <= 3)
            // A session of the pooler's without our settings: what the server gives everybody.
            var plain = self.pooled(url)
            plain.statementTimeout = .seconds(7)
            let connection = try PostgresConnection(plain)
            for _ in 0..<4 {
                let row = connection.prepare(Self.settings)
                #expect(try row.step())
                #expect(row.text() == "7s")
            }
            try connection.execute(
                "DO $$BEGIN ASSERT current_setting('statement_timeout') = '0'; END$$; SELECT 1")
        }
    }
}
