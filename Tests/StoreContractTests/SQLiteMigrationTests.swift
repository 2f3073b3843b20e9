// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import NativeSQLite
import NativeSystem
import Testing

@Suite("The store's SQLite schema", .places)
struct SQLiteMigrationTests {
    private func status(_ place: StorePlace) throws -> MigrationStatus {
        try SQLiteMigrations.status(path: place.path, busyTimeout: .seconds(1))
    }

    private func apply(_ place: StorePlace) throws -> [Int] {
        try SQLiteMigrations.apply(path: place.path, busyTimeout: .seconds(1), at: Make.now)
    }

    @Test("migrations are applied once, and asking for the status makes no file")
    func twice() throws {
        let place = try StorePlace(.sqlite)
        #expect(try status(place) == MigrationStatus(found: 0, known: 1))
        #expect(try FileIdentity.ofFile(at: place.path) == nil)
        #expect(try apply(place) == [1])
        #expect(try apply(place) == [])
        #expect(try status(place) == MigrationStatus(found: 1, known: 1))
    }

    @Test("processes that migrate at once apply each step once")
    func atOnce() async throws {
        let place = try StorePlace(.sqlite)
        let applied = try await withThrowingTaskGroup(of: [Int].self) { group in
            for _ in 0..<4 { group.addTask { try apply(place) } }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(applied == [1])
    }

    @Test("a step that was changed after it was applied is an error")
    func changed() throws {
        let place = try StorePlace(.sqlite)
        _ = try apply(place)
        try place.connection().execute("UPDATE schema_migrations SET checksum = '0123456789abcdef'")
        #expect(throws: StoreFailure.damaged("migration 1 is not the one that was applied")) { try status(place) }
        #expect(throws: StoreFailure.damaged("migration 1 is not the one that was applied")) { _ = try place.open() }
    }

    @Test("a newer schema is told, and nothing is opened", arguments: [MigrationMode.automatic, .manual])
    func newer(mode: MigrationMode) throws {
        let place = try StorePlace(.sqlite)
        _ = try apply(place)
        try place.connection().execute("INSERT INTO schema_migrations VALUES (2, 'later', 0, 2)")
        #expect(throws: StoreFailure.schemaIsNewer(found: 2, known: 1)) { _ = try place.open(migrations: mode) }
        #expect(try status(place) == MigrationStatus(found: 2, known: 1))
    }

    @Test("a newer schema that works with this program too is opened", arguments: [MigrationMode.automatic, .manual])
    func newerButFit(mode: MigrationMode) throws {
        let place = try StorePlace(.sqlite)
        _ = try apply(place)
        try place.connection().execute("INSERT INTO schema_migrations VALUES (2, 'later', 0, 1)")
        _ = try place.open(migrations: mode)
        #expect(try status(place) == MigrationStatus(found: 1, known: 1))
    }

    @Test("an older schema is left alone where migrating is somebody's own step")
    func older() throws {
        let place = try StorePlace(.sqlite)
        #expect(throws: StoreFailure.schemaIsOlder(found: 0, known: 1)) { _ = try place.open(migrations: .manual) }
        #expect(try FileIdentity.ofFile(at: place.path) == nil)
        _ = try apply(place)
        _ = try place.open(migrations: .manual)
    }

    @Test("another program's database is left alone")
    func others() throws {
        let place = try StorePlace(.sqlite)
        try makePrivateDirectory(at: place.directory + "/data")
        try makePrivateFile(at: place.path)
        try place.connection().execute("CREATE TABLE theirs (a INTEGER)")
        #expect(throws: StoreFailure.damaged("the file is another program's database")) { _ = try place.open() }
        #expect(throws: StoreFailure.damaged("the file is another program's database")) {
            _ = try SQLiteMigrations.status(path: place.path, busyTimeout: .zero)
        }
    }

    @Test("a write-ahead log whose database is gone is not thrown away")
    func orphanedLog() throws {
        let place = try StorePlace(.sqlite)
        try makePrivateDirectory(at: place.directory + "/data")
        try makePrivateFile(at: place.path + "-wal")
        #expect(throws: StoreFailure.self) { _ = try place.open() }
        #expect(throws: StoreFailure.self) { _ = try place.open(migrations: .manual) }
        #expect(throws: StoreFailure.self) { _ = try SQLiteMigrations.status(path: place.path, busyTimeout: .zero) }
        #expect(try FileIdentity.ofFile(at: place.path) == nil)
        #expect(try FileIdentity.ofFile(at: place.path + "-wal") != nil)
    }

    @Test("a file that is no database is damaged")
    func garbage() throws {
        let place = try StorePlace(.sqlite)
        _ = try apply(place)
        let path = place.path
        #expect(throws: StoreFailure.self) {
            _ = try SQLiteMigrations.status(path: "/proc/self/exe", busyTimeout: .zero)
        }
        #expect(try FileIdentity.ofFile(at: path) != nil)
    }
}
