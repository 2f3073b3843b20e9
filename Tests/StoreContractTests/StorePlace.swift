// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import Glibc
import NativePostgres
import NativeSQLite
import NativeSystem
import Observability
import TestServers
import TestSupport
import Testing

/// Every kind of store that must keep the contract.
enum StoreKind: CaseIterable, Sendable {
    case sqlite
    case postgres

    /// PostgreSQL where there is a server for tests; that it is left out is told by ``PostgresStoreTests``.
    static var allCases: [StoreKind] { PostgresDatabase.hasServer ? [.sqlite, .postgres] : [.sqlite] }
}

/// Where stores of one kind keep the same consents: a folder of its own, gone with the test that made it.
final class StorePlace: Sendable {
    let kind: StoreKind
    let directory: String
    /// What its stores count.
    let metrics = Metrics(MetricWords(routes: [], codes: [], providers: [], version: "1"))
    /// What its stores go by for how long a commit was ago; the tests move it on.
    let clock = HandMovedClock()
    private let opened = Locked<[SQLStore]>([])
    /// Nil for a file.
    let database: PostgresDatabase?

    init(_ kind: StoreKind) throws {
        self.kind = kind
        var template = Array("/tmp/store-contract-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemCallError.last("mkdtemp") }
        directory = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        database = kind == .postgres ? try PostgresDatabase(template: MigratedDatabase.name.get()) : nil
        guard let places = PlacesOfOneTest.current else { throw Unexpected("a test without .places") }
        places.withLock { $0.append(self) }
    }

    /// Closes every store and removes the folder.
    fileprivate func leave() {
        for store in opened.withLock({ $0 }) { store.close() }
        removeTree(directory)
    }

    var path: String { directory + "/data/consents.db" }
    var stateDirectory: String { directory + "/state" }

    func location() throws(StoreFailure) -> StoreLocation {
        guard let database else { return .file(path) }
        return .server(try PostgresServer(url: database.url, password: nil, pool: 2, applicationName: "test"))
    }

    /// Changes what lies in the store beside it, as somebody might who has its password: no reference is held.
    /// - Parameter script: for SQLite, with blobs as `x'…'`.
    func tamper(_ script: String) throws {
        guard let database else {
            let connection = try connection()
            try connection.execute("PRAGMA foreign_keys = OFF")
            return try connection.execute(script)
        }
        try database.connection().execute(script.replacing("x'", with: "'\\x"))
    }

    /// The number that a statement answers.
    func number(_ statement: String) throws -> Int64 {
        guard let database else {
            let row = try connection().prepare(SQLiteQuery(statement))
            try row.bind()
            return try row.step() ? row.integer() : -1
        }
        let row = try database.connection().prepare(PostgresQuery(statement))
        return try row.step() ? row.integer() : -1
    }

    /// Another instance on the same consents.
    func open(
        _ instance: InstanceID = Make.instance(), limits: StoreLimits = .standard,
        migrations: MigrationMode = .automatic, telling told: StoreClock = StoreClock()
    ) throws(StoreFailure) -> SQLStore {
        let store = try SQLStore.open(
            try location(), stateDirectory: stateDirectory, instance: instance, ledger: FakeLedger(),
            migrations: migrations, limits: limits, metrics: metrics, time: clock, telling: told, at: Make.now)
        opened.withLock { $0.append(store) }
        return store
    }

    /// Lets an instance die: what it has on the wire stays as it is, its lock becomes free.
    func kill(_ store: SQLStore) { store.close() }
}

/// A clock that stands still until it is moved.
final class HandMovedClock: Timekeeper {
    private let time = Locked(Duration.seconds(1000))

    var now: Instant { Make.now }
    var monotonic: Duration { time.withLock { $0 } }
    var sinceBoot: Duration { monotonic }
    func sleep(until monotonic: Duration) async throws(CancellationError) {}
    func move(by step: Duration) { time.withLock { $0 += step } }
}

/// Leaves a test's places when the test is over.
struct PlacesOfOneTest: TestTrait, SuiteTrait, TestScoping {
    @TaskLocal static var current: Locked<[StorePlace]>?
    var isRecursive: Bool { true }

    @concurrent func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let places = Locked<[StorePlace]>([])
        defer { for place in places.withLock({ $0 }) { place.leave() } }
        try await PlacesOfOneTest.$current.withValue(places) { try await function() }
    }
}

extension Trait where Self == PlacesOfOneTest {
    static var places: Self { PlacesOfOneTest() }
}

/// A chain's mac that anybody can make again: 32 bytes of FNV-1a over both.
struct FakeLedger: Ledger {
    func mac(previous: [UInt8], event: [UInt8]) -> [UInt8] {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        var mac: [UInt8] = []
        for round in 0..<4 as Range<UInt8> {
            for byte in previous + event + [round] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            for shift in stride(from: 56, through: 0, by: -8) { mac.append(UInt8(truncatingIfNeeded: hash >> shift)) }
        }
        return mac
    }
}

private func removeTree(_ path: String) {
    for name in (try? names(inDirectory: path)) ?? [] {
        let child = path + "/" + name
        if unlink(child) != 0 { removeTree(child) }
    }
    rmdir(path)
}

/// A database with the schema in it, to make each test's from.
private enum MigratedDatabase {
    private static let database = Result {
        let database = try PostgresDatabase(template: "template0")
        let server = try PostgresServer(url: database.url, password: nil, pool: 2, applicationName: "test")
        try StoreLocation.server(server).migrate(at: Make.now)
        return database
    }
    static let name = database.map(\.name)
}
