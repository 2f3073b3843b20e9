// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import NativeSQLite
import NativeSystem
import Testing

@Suite("A write-ahead log that a crash left beside a SQLite file", .places)
struct ForeignLogTests {
    private let life = Make.uuid()

    /// The store's files as a crash would leave them after some steps, under other names; then the store goes on.
    private func crashed(_ place: StorePlace, _ store: SQLStore, steps: Int) async throws -> (
        db: [UInt8], log: [UInt8]
    ) {
        for _ in 0..<steps { _ = try await store.stepEpoch(from: nil, newborn: life, at: Make.now) }
        return (try bytes(place.path), try bytes(place.path + "-wal"))
    }

    private func bytes(_ path: String) throws -> [UInt8] { try readFile(at: path, limit: 1 << 26).bytes }

    private func lay(_ database: [UInt8], _ log: [UInt8], in place: StorePlace) throws {
        try makePrivateDirectory(at: folder(of: place.path))
        try replaceFile(database, at: place.path, permissions: 0o600)
        try replaceFile(log, at: place.path + "-wal", permissions: 0o600)
    }

    @Test("the log of the same file is taken, of an older copy and of a vacuumed one refused with what to do")
    func told() async throws {
        let place = try StorePlace(.sqlite)
        let store = try place.open()
        let older = try await crashed(place, store, steps: 3)
        place.kill(store)
        let again = try place.open()
        _ = try await crashed(place, again, steps: 2)
        try SQLiteConnection(path: place.path, access: .readOnly, busyTimeout: 1000)
            .execute("VACUUM INTO '\(place.directory)/vacuumed.db'")
        let newer = try await crashed(place, again, steps: 2)

        let own = try StorePlace(.sqlite)
        try lay(newer.db, newer.log, in: own)
        #expect(try await own.open().life().mark?.epoch.number == 7)

        for copy in [older.db, try bytes(place.directory + "/vacuumed.db")] {
            let mixed = try StorePlace(.sqlite)
            try lay(copy, newer.log, in: mixed)
            let failure = #expect(throws: StoreFailure.self) { try mixed.open() }
            #expect(failure.map { "\($0)" }?.contains("belongs to another copy of the database") == true)
            #expect(try bytes(mixed.path) == copy, "nothing was played into it")
            try removeFile(at: mixed.path + "-wal")
            try removeFile(at: mixed.path + "-shm")
            _ = try mixed.open()
        }
    }

    @Test("a log that is cut off anywhere, and bytes that are none, tell nothing")
    func pieces() async throws {
        let place = try StorePlace(.sqlite)
        let store = try place.open()
        let files = try await crashed(place, store, steps: 2)
        for length in stride(from: 0, to: files.log.count, by: 1021) {
            let piece = try StorePlace(.sqlite)
            try lay(files.db, Array(files.log[..<length]), in: piece)
            _ = try piece.open()
        }
        let noise = try StorePlace(.sqlite)
        try lay(files.db, Array(repeating: 0x5A, count: 5000), in: noise)
        _ = try noise.open()
    }
}
