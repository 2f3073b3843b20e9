// SPDX-License-Identifier: Apache-2.0
import Consents
import NativePostgres
import NativeSystem
import TestServers
import Testing

@testable import ConsentStores

@Suite(
    "The store's PostgreSQL database", .places,
    .enabled(if: PostgresDatabase.hasServer, "no server for tests: `bash Tests/run.sh` starts one"))
struct PostgresStoreTests {
    /// Without a schema.
    private func empty() throws -> (database: PostgresDatabase, location: StoreLocation) {
        let database = try PostgresDatabase()
        return (database, .server(try PostgresServer(url: database.url, password: nil, pool: 2, applicationName: "t")))
    }

    @Test("an empty database is told, brought up to date once, and then is as it must be")
    func migration() throws {
        let (database, location) = try empty()
        #expect(try location.migrationStatus() == MigrationStatus(found: 0, known: 1))
        #expect(try location.migrate(at: Make.now) == [1])
        #expect(try location.migrate(at: Make.now) == [])
        #expect(try location.migrationStatus().pending == 0)
        #expect(try SQLStore.contentUnderRing(in: location) == nil)
        try database.connection().execute("INSERT INTO schema_migrations VALUES (2, 'later', 0, 1)")
        #expect(try location.migrate(at: Make.now) == [], "it works with this program as well")
        #expect(try location.migrationStatus() == MigrationStatus(found: 1, known: 1))
        try database.connection().execute("INSERT INTO schema_migrations VALUES (3, 'later', 0, 2)")
        #expect(throws: StoreFailure.schemaIsNewer(found: 3, known: 1)) { try location.migrate(at: Make.now) }
    }

    @Test("what is due is found along its index, in the order in which it lies there")
    func plan() throws {
        let (database, location) = try empty()
        _ = try location.migrate(at: Make.now)
        let connection = try database.connection()
        // A table without rows is read as a whole otherwise.
        try connection.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
        func plan(_ query: SQLQuery, _ values: String...) throws -> String {
            var text = query.postgres.text
            for (number, value) in values.enumerated().reversed() { text.replace("$\(number + 1)", with: value) }
            let rows = connection.prepare(PostgresQuery("EXPLAIN (COSTS OFF) \(text)"))
            var lines: [String] = []
            while try rows.step() { lines.append(rows.text()) }
            return lines.joined(separator: "\n")
        }
        let plans = [
            try plan(DueQueries.due, "'p'", "9", "'e'", "10"),
            try plan(DueQueries.dueGrants, "'p'", "9", "'e'", "10", "0"),
            try plan(DueQueries.next, "'p'"), try plan(DueQueries.tally, "8", "'p'", "9", "10"),
            try plan(DueQueries.farAhead, "'p'", "9", "10", "'e'"),
            try plan(DueQueries.ending, "'p'", "9", "10", "9", "'e'", "10"),
        ]
        for plan in plans {
            #expect(plan.contains("using consents_by_due") || plan.contains("using consents_by_token_end"), "\(plan)")
            #expect(!plan.contains("Sort"), "\(plan)")
        }
    }

    @Test("of processes that bring it up to date at once each ends well, and one did it")
    func migrationRace() async throws {
        let (database, location) = try empty()
        let applied = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 { group.addTask { try location.migrate(at: Make.now).count } }
            return try await group.reduce(0, +)
        }
        #expect(applied == 1)
        withExtendedLifetime(database) {}
    }

    @Test("a step that was changed and another program's tables are damage")
    func foreign() throws {
        let (changed, location) = try empty()
        try location.migrate(at: Make.now)
        try changed.connection().execute("UPDATE schema_migrations SET checksum = '0123456789abcdef'")
        #expect(throws: StoreFailure.damaged("migration 1 is not the one that was applied")) {
            try location.migrationStatus()
        }
        let (theirs, other) = try empty()
        try theirs.connection().execute("CREATE TABLE theirs (a integer)")
        #expect(throws: StoreFailure.damaged("the schema is another program's database")) {
            try other.migrate(at: Make.now)
        }
    }

    @Test("what only migrate may do is not done at opening")
    func manual() throws {
        let (database, location) = try empty()
        #expect(throws: StoreFailure.schemaIsOlder(found: 0, known: 1)) {
            _ = try SQLStore.open(
                location, stateDirectory: "/nowhere", instance: Make.instance(), ledger: FakeLedger(),
                migrations: .manual, limits: .standard, metrics: StorePlace(.sqlite).metrics, time: HandMovedClock(),
                telling: StoreClock(), at: Make.now)
        }
        withExtendedLifetime(database) {}
    }

    @Test("a server that is not there is told without the password")
    func password() throws {
        let url = "postgres://gateway:hunter2@127.0.0.1:1/consents"
        let server = try PostgresServer(url: url, password: "hunter3", pool: 2, applicationName: "t")
        let location = StoreLocation.server(server)
        #expect(location.shown == "postgres://gateway@127.0.0.1:1/consents")
        let failure = #expect(throws: StoreFailure.self) { try location.migrationStatus() }
        #expect(failure.map { "\($0)".contains("hunter") } == false)
        if case .outOfReach? = failure {} else { Issue.record("\(String(describing: failure))") }
    }

    @Test(
        "a server that could lose what it has confirmed is refused, and the reason said",
        arguments: ["fsync=off", "full_page_writes=off"])
    func forgetful(_ setting: String) async throws {
        let cluster = try await PostgresCluster([setting])
        let server = try PostgresServer(url: cluster.url, password: nil, pool: 2, applicationName: "t")
        let failure = #expect(throws: StoreFailure.self) { try StoreLocation.server(server).migrationStatus() }
        #expect(failure.map { "\($0)".contains("fsync or full_page_writes is off") } == true)
        if case .outOfReach? = failure {} else { Issue.record("\(String(describing: failure))") }
    }

    @Test("what time it is an instance learns from the server, before it does anything; with a file it does not")
    func clock() throws {
        let place = try StorePlace(.postgres)
        let told = StoreClock()
        #expect(told.now == nil)
        func now() throws -> Int64 {
            try place.number("SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint")
        }
        let before = try now()
        _ = try place.open(telling: told)
        let found = try #require(told.now?.milliseconds)
        // A reading is that of the server's statement, counted on from when it was asked for.
        #expect(found >= before - 1000)
        #expect(found <= (try now()) + 1000)
        let beside = StoreClock()
        _ = try StorePlace(.sqlite).open(telling: beside)
        #expect(beside.now == nil)
    }

    @Test("two instances that write to one record at once leave one chain")
    func oneChain() async throws {
        let place = try StorePlace(.postgres)
        let stores = [try place.open(), try place.open()]
        let id = try await stores[0].keepConsent().id
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask { try await stores[number % 2].append(Make.event(.refreshed), to: id) }
            }
            try await group.waitForAll()
        }
        #expect(try await stores[0].chain(of: id).map(\.sequence) == Array(1...201))
    }

    @Test("failures that several instances see at once are all counted, though the provider had no row")
    func countedFailures() async throws {
        let place = try StorePlace(.postgres)
        let stores = [try place.open(), try place.open()]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<HealthLimits.failuresToOpen {
                group.addTask {
                    try await stores[number % 2].note(
                        .unreachable, of: Make.attempt(), at: Make.provider, now: Make.now, spread: 0)
                }
            }
            try await group.waitForAll()
        }
        #expect(try await stores[0].providerStates().first?.health.breaker?.reason == .unreachable)
    }

    @Test("after its connections are cut a store writes and reads again, and its leases stand all the while")
    func cutConnections() async throws {
        let place = try StorePlace(.postgres)
        let (owner, other) = (try place.open(), try place.open())
        let reservation = Make.reservation()
        #expect(try await owner.reserveCode(reservation).word == "reserved")
        for _ in 0..<3 {
            _ = try place.number(
                """
                SELECT count(*) FROM (SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid()) AS cut
                """)
            let again = Make.reservation(reservation.digest, subject: reservation.subjectIndex)
            #expect(try await other.reserveCode(again).word == "underWay")
            #expect(try await owner.reserveCode(Make.reservation()).word == "reserved")
            _ = try await owner.providerStates()
        }
        #expect(try await other.adoptAbandoned(limit: 10, policies: [:], at: Make.now).codesNamedUnknown == 0)
        place.kill(owner)
        #expect(try await other.adoptAbandoned(limit: 10, policies: [:], at: Make.now).codesNamedUnknown == 4)
    }
}
