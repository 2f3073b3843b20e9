// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import Glibc
import NativeSQLite
import NativeSystem
import Testing

@Suite("Whether the store takes writes", .places)
struct ReadinessTests {
    private let hasty = StoreLimits(
        batch: 16, waitingWrites: 64, waitingReads: 64, readers: 1, busyTimeout: .milliseconds(50))

    @Test(
        "a database that another connection holds is not ready, and is again when it is let go",
        arguments: ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
    func locked(lock: String) async throws {
        let place = try StorePlace(.sqlite)
        let store = try place.open(limits: hasty)
        #expect(await store.storeIsReady())
        let other = try place.connection()
        try other.execute(lock)
        // The last commit vouches for the next one, for a while.
        #expect(await store.storeIsReady())
        place.clock.move(by: .seconds(6))
        #expect(await !store.storeIsReady())
        try other.execute("COMMIT")
        // Whoever asks at once does not try at once.
        #expect(await !store.storeIsReady())
        place.clock.move(by: .seconds(1))
        #expect(await store.storeIsReady())
    }

    @Test("work that fails is known without a try, and so is work that gets through again")
    func seenFromTheWork() async throws {
        let place = try StorePlace(.sqlite)
        let store = try place.open(limits: hasty)
        _ = try await store.reserveCode(Make.reservation())
        let other = try place.connection()
        try other.execute("BEGIN IMMEDIATE")
        await #expect(throws: StoreFailure.self) { _ = try await store.reserveCode(Make.reservation()) }
        #expect(await !store.storeIsReady())
        try other.execute("COMMIT")
        _ = try await store.reserveCode(Make.reservation())
        #expect(await store.storeIsReady())
        #expect(try tries(place) == 0)
    }

    @Test("asking writes nothing while commits vouch, and once after they have become old")
    func tries() async throws {
        let place = try StorePlace(.sqlite)
        let store = try place.open(limits: hasty)
        for _ in 0..<10 { #expect(await store.storeIsReady()) }
        #expect(try tries(place) == 1)
        place.clock.move(by: .seconds(4))
        _ = try await store.reserveCode(Make.reservation())
        place.clock.move(by: .seconds(4))
        for _ in 0..<10 { #expect(await store.storeIsReady()) }
        #expect(try tries(place) == 1)
        place.clock.move(by: .seconds(2))
        for _ in 0..<10 { #expect(await store.storeIsReady()) }
        #expect(try tries(place) == 2)
    }

    @Test("a row that a rule of the schema refuses says nothing of the disk")
    func refusedRow() async throws {
        let place = try StorePlace(.sqlite)
        let store = try place.open(limits: hasty)
        let digest = Make.index().bytes
        for name in ["a", "b"] {
            let key = APIKey(name: name, digest: digest, scopes: [], createdAt: Make.now, expiresAt: nil)
            try? await store.createAPIKey(key)
        }
        #expect(await store.storeIsReady())
        #expect(try tries(place) == 0)
    }

    @Test(
        "a full disk is not ready, whether work or the try meets it, and is again when there is room",
        .enabled(if: SmallDisk.isPossible, "mounting a file system of its own takes a privilege"),
        arguments: [true, false])
    func full(isMetByWork: Bool) async throws {
        let place = try StorePlace(.sqlite)
        let disk = try SmallDisk(at: place.directory + "/data")
        defer { disk.unmount() }
        let store = try place.open(limits: hasty)
        _ = try await store.keepConsent()
        #expect(await store.storeIsReady())
        try disk.fill()
        if isMetByWork {
            let failure = await #expect(throws: StoreFailure.self) {
                for _ in 0..<100 { _ = try await store.reserveCode(Make.reservation()) }
            }
            guard case .retryLater = failure else { throw Unexpected(failure.debugDescription) }
        }
        place.clock.move(by: .seconds(6))
        #expect(await !store.storeIsReady())
        disk.makeRoom()
        place.clock.move(by: .seconds(1))
        #expect(await store.storeIsReady())
        _ = try await store.keepConsent()
    }

    private func tries(_ place: StorePlace) throws -> Int64 {
        let statement = try place.connection().prepare(numberOfTries)
        #expect(try statement.step())
        return statement.integer()
    }
}

private let numberOfTries = SQLiteQuery("SELECT tries FROM store_identity")

/// A file system of a megabyte, in memory, which can really be full.
private struct SmallDisk {
    let path: String
    private var filler: String { path + "/filler" }

    /// Whether this process may mount one.
    static let isPossible: Bool = {
        guard let folder = try? makeTemporaryFolder(prefix: "small-disk-", in: "/tmp") else { return false }
        defer { rmdir(folder) }
        guard let disk = try? SmallDisk(at: folder) else { return false }
        disk.unmount()
        return true
    }()

    init(at path: String) throws {
        self.path = path
        mkdir(path, 0o700)
        guard mount("tmpfs", path, "tmpfs", 0, "size=1m,mode=0700") == 0 else { throw SystemCallError.last("mount") }
    }

    /// Writes until nothing more is taken.
    func fill() throws {
        let descriptor = open(filler, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemCallError.last("open") }
        defer { close(descriptor) }
        let page = [UInt8](repeating: 0x20, count: 4096)
        while write(descriptor, page, page.count) > 0 {}
        guard errno == ENOSPC else { throw SystemCallError.last("write") }
    }

    func makeRoom() { unlink(filler) }
    func unmount() { umount2(path, Int32(MNT_DETACH)) }
}
