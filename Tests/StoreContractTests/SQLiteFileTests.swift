// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import Glibc
import NativeSQLite
import NativeSystem
import Testing

@Suite("The store's SQLite file", .places)
struct SQLiteFileTests {
    private let hasty = StoreLimits(
        batch: 16, waitingWrites: 4, waitingReads: 4, readers: 1, busyTimeout: .milliseconds(50))

    @Test("two hundred writes at once are in the file when they are answered")
    func groupCommit() async throws {
        let place = try StorePlace(.sqlite)
        let store = try place.open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    let reservation = Make.reservation()
                    #expect(try await store.reserveCode(reservation).word == "reserved")
                    let other = try place.connection()
                    let found = try other.prepare(countOfCode)
                    try found.bind(reservation.digest.bytes)
                    #expect(try found.step())
                    #expect(found.integer() == 1)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("one write that fails leaves its neighbours in the batch alone")
    func neighbours() async throws {
        let store = try StorePlace(.sqlite).open()
        let digest = Make.index().bytes
        let failures = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<40 {
                group.addTask {
                    // Every tenth has a digest that is taken, under another name: the schema refuses it.
                    let isDouble = number.isMultiple(of: 10)
                    let key = APIKey(
                        name: "key \(number)", digest: isDouble ? digest : Make.index().bytes, scopes: [],
                        createdAt: Make.now, expiresAt: nil)
                    do { try await store.createAPIKey(key) } catch { return true }
                    return false
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(failures == 3)
        #expect(try await store.apiKeys().count == 37)
    }

    @Test("a database that another process holds is busy within a bound, and works afterwards")
    func busy() async throws {
        let place = try StorePlace(.sqlite)
        let store = try place.open(limits: hasty)
        let other = try place.connection()
        try other.execute("BEGIN IMMEDIATE")
        let start = MonotonicInstant.now()
        let answers = await withTaskGroup(of: StoreFailure?.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    do throws(StoreFailure) { _ = try await store.reserveCode(Make.reservation()) } catch {
                        return error
                    }
                    return nil
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        // Whatever else the machine does: forty waits of fifty milliseconds, not one of them without an end.
        #expect(start.duration(to: .now()) < .seconds(30))
        for answer in answers {
            guard case .retryLater = answer else { throw Unexpected(answer.debugDescription) }
        }
        #expect(await !store.storeIsReady())
        try other.execute("COMMIT")
        #expect(try await store.reserveCode(Make.reservation()).word == "reserved")
    }

    @Test("a file deleted or replaced under a running store takes nothing more", arguments: [false, true])
    func deleted(isReplaced: Bool) async throws {
        let place = try StorePlace(.sqlite)
        let store = try place.open()
        _ = try await store.keepConsent()
        #expect(await store.storeIsReady())
        #expect(rename(place.path, place.path + ".away") == 0)
        if isReplaced { try makePrivateFile(at: place.path) }
        try await expectOutOfReach { _ = try await store.reserveCode(Make.reservation()) }
        #expect(await !store.storeIsReady())
        unlink(place.path)
        #expect(rename(place.path + ".away", place.path) == 0)
    }

    @Test("a write-ahead log or a lock file that was removed is noticed", arguments: [false, true])
    func removed(isLock: Bool) async throws {
        let place = try StorePlace(.sqlite)
        let instance = Make.instance()
        let store = try place.open(instance)
        _ = try await store.reserveCode(Make.reservation())
        unlink(isLock ? "\(place.stateDirectory)/instances/\(instance).lock" : place.path + "-wal")
        try await expectOutOfReach { _ = try await store.reserveCode(Make.reservation()) }
    }

    private func expectOutOfReach(_ body: () async throws -> Void) async throws {
        let failure = await #expect(throws: StoreFailure.self) { try await body() }
        guard case .outOfReach = failure else { throw Unexpected(failure.debugDescription) }
    }

    @Test("database, write-ahead log and index are their owner's alone, also where they were not")
    func permissions() async throws {
        let place = try StorePlace(.sqlite)
        let first = try place.open()
        _ = try await first.keepConsent()
        for name in ["", "-wal", "-shm"] { #expect(mode(of: place.path + name) == 0o600) }
        #expect(mode(of: place.directory + "/data") == 0o700)
        first.close()
        chmod(place.path, 0o644)
        _ = try place.open()
        #expect(mode(of: place.path) == 0o600)
    }

    private func mode(of path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    @Test("destroyed envelopes are in no file once the store is closed")
    func destroyed() async throws {
        let place = try StorePlace(.sqlite)
        let store = try place.open()
        var consent = Make.consent()
        let marker = "marker-\(Make.uuid().hexadecimal)"
        consent.tokens = Make.sealed(marker + String(repeating: "x", count: 6000))
        let id = try await store.keepConsent(consent).id
        #expect(try await store.saveTokens(Make.tokens(id, Make.attempt())) == .written)
        store.close()
        for name in try names(inDirectory: place.directory + "/data") {
            let bytes = try readFile(at: place.directory + "/data/" + name, limit: 1 << 24).bytes
            #expect(!bytes.contains(Array(marker.utf8)), "in \(name)")
        }
        #expect(try names(inDirectory: place.directory + "/data") == ["consents.db"])
    }

    @Test("what waits when the store closes is answered, what comes later is refused")
    func closing() async throws {
        let place = try StorePlace(.sqlite)
        let store = try place.open()
        let digests = (0..<50).map { _ in Make.index() }
        await withTaskGroup(of: Void.self) { group in
            for digest in digests {
                group.addTask { _ = try? await store.reserveCode(Make.reservation(digest)) }
            }
            group.addTask { store.close() }
        }
        await #expect(throws: StoreFailure.self) { _ = try await store.reserveCode(Make.reservation()) }
        #expect(await !store.storeIsReady())
    }

    @Test(
        "leases of another boot, or longer than any that was given, do not stand",
        arguments: [
            "lease_boot = 'another'", "lease_until = lease_until + 7200000",
        ])
    func oddLeases(change: String) async throws {
        let place = try StorePlace(.sqlite)
        let (owner, store) = (try place.open(), try place.open())
        let reservation = Make.reservation()
        _ = try await owner.reserveCode(reservation)
        let again = Make.reservation(reservation.digest, subject: reservation.subjectIndex)
        #expect(try await store.reserveCode(again).word == "underWay")
        try place.connection().execute("UPDATE code_reservations SET \(change)")
        #expect(try await store.reserveCode(again).word == "ended exchange_unknown -")
    }

    @Test("the lock files of the dead are swept, those of the living stay")
    func sweeping() async throws {
        let place = try StorePlace(.sqlite)
        let (living, dead, late) = (Make.instance(), Make.instance(), Make.instance())
        _ = try place.open(living)
        let directory = place.stateDirectory + "/instances"
        try makePrivateFile(at: "\(directory)/\(dead).lock")
        _ = try place.open(late)
        #expect(Set(try names(inDirectory: directory)) == ["\(living).lock", "\(late).lock"])
    }
}

private let countOfCode = SQLiteQuery("SELECT count(*) FROM code_reservations WHERE digest = ?")

extension StorePlace {
    /// A connection beside the store's.
    func connection() throws(SQLiteError) -> SQLiteConnection {
        try SQLiteConnection(path: path, access: .readWrite, busyTimeout: 5000)
    }
}
