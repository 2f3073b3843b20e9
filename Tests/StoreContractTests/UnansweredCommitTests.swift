// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import NativePostgres
import NativeSystem
import TestServers
import TestSupport
import Testing

@Suite(
    "A COMMIT that is not answered", .places,
    .enabled(if: PostgresDatabase.hasServer, "no server for tests: `bash Tests/run.sh` starts one"))
struct UnansweredCommitTests {
    /// A store behind something that can cut its connections, and another one on the same consents.
    private struct Ground {
        let place: StorePlace
        let cutter: CommitCutter
        let store: SQLStore
        let other: SQLStore

        init() throws {
            place = try StorePlace(.postgres)
            guard let database = place.database else { throw Unexpected("no server") }
            cutter = try CommitCutter(before: database.url)
            store = try SQLStore.open(
                .server(try PostgresServer(url: cutter.url, password: nil, pool: 2, applicationName: "cut")),
                stateDirectory: place.stateDirectory, instance: Make.instance(), ledger: FakeLedger(),
                migrations: .manual, limits: .standard, metrics: place.metrics, time: place.clock,
                telling: StoreClock(), at: Make.now)
            other = try place.open()
        }

        func leave() async throws {
            try await onOwnThread {
                store.close()
                cutter.stop()
            }
        }

        /// What a write answers whose COMMIT is done and not answered.
        func cut<Value>(_ write: () async throws -> Value) async throws -> Value {
            let before = cutter.cuts
            cutter.cutNext()
            let value = try await write()
            #expect(cutter.cuts == before + 1)
            return value
        }

        func events(of id: ConsentID) async throws -> [EventType] {
            try await other.events(of: id).map(\.draft.type)
        }
    }

    @Test("every write has been done once, and its answer is that of the first time")
    func once() async throws {
        let ground = try Ground()
        let (store, other) = (ground.store, ground.other)
        let (id, code) = try await other.keepConsent(Make.consent(providerSubject: nil))
        try await ground.cut { try await store.append(Make.event(.refreshed), to: id) }
        #expect(try await ground.events(of: id) == [.created, .refreshed])

        let write = Make.profile(id, providerSubject: Make.index())
        #expect(try await ground.cut { try await store.saveProfile(write) } == .saved)
        #expect(try await ground.events(of: id) == [.created, .refreshed, .profileFetched])

        try await ground.cut {
            try await store.tellOfOtherSubject(Make.index(), presenting: code, Make.event(.codeOfOtherSubject))
        }
        #expect(try await ground.events(of: id) == [.created, .refreshed, .profileFetched, .codeOfOtherSubject])

        let key = APIKey(
            name: "backend", digest: Make.index().bytes, scopes: [.consentsRead], createdAt: Make.now, expiresAt: nil)
        try await ground.cut { try await store.createAPIKey(key) }
        await #expect(throws: StoreFailure.nameTaken) { try await store.createAPIKey(key) }

        let attempt = Make.attempt()
        #expect(try await ground.cut { try await store.claimRefresh(Make.claim(id, attempt)) } == .claimed)
        #expect(try await ground.cut { try await store.saveTokens(Make.tokens(id, attempt)) } == .written)
        #expect(try await other.consent(id)?.record.generation == 2)
        try await ground.leave()
    }

    @Test("so has each of a batch, and of those behind it")
    func batch() async throws {
        let ground = try Ground()
        let id = try await ground.other.keepConsent().id
        for _ in 0..<5 {
            try await ground.cut {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<40 {
                        group.addTask { try await ground.store.append(Make.event(.refreshed), to: id) }
                    }
                    try await group.waitForAll()
                }
            }
        }
        #expect(try await ground.other.chain(of: id).map(\.sequence) == Array(1...201))
        #expect(try ground.place.number("SELECT count(*) FROM batch_marks WHERE is_written = 0") == 0)
        try await ground.leave()
        // The other store's are still there.
        #expect(try ground.place.number("SELECT count(DISTINCT instance) FROM batch_marks") == 1)
    }

    @Test("one that the server is still at is waited for")
    func slow() async throws {
        let ground = try Ground()
        let id = try await ground.other.keepConsent().id
        guard let database = ground.place.database else { throw Unexpected("no server") }
        try database.connection().execute(
            """
            CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(2); RETURN NULL; END';
            CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION wait()
            """)
        async let written: Void = ground.store.append(Make.event(.refreshed), to: id)
        try await onOwnThread {
            let connection = try database.connection()
            let asleep = PostgresQuery(
                "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'")
            blockUntil { (try? connection.prepare(asleep).step()) == true }
        }
        ground.cutter.cutAll()
        try await written
        #expect(try await ground.events(of: id) == [.created, .refreshed])
        try await ground.leave()
    }

    @Test("what was given up cannot be committed any more")
    func givenUp() async throws {
        let place = try StorePlace(.postgres)
        let store = try place.open()
        let id = try await store.keepConsent().id
        // As whoever asks before the server has come to the transaction.
        try place.tamper(
            """
            INSERT INTO batch_marks (instance, writer, number, is_written)
                SELECT instance, writer, max(number) + 1, 0 FROM batch_marks GROUP BY instance, writer
            """)
        try await store.append(Make.event(.refreshed), to: id)
        #expect(try await store.events(of: id).count == 2)
        #expect(try place.number("SELECT count(*) FROM batch_marks WHERE is_written = 0") == 1)
    }

    @Test("the rows that tell of it stay few")
    func few() async throws {
        let place = try StorePlace(.postgres)
        let store = try place.open()
        let id = try await store.keepConsent().id
        for _ in 0..<300 { try await store.append(Make.event(.refreshed), to: id) }
        #expect(try place.number("SELECT count(*) FROM batch_marks") <= 66)
    }
}
