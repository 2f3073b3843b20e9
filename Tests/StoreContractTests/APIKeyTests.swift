// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import Testing

@Suite("API keys in any store", .places)
struct APIKeyTests {
    @Test("an API key is kept once a name", arguments: StoreKind.allCases)
    func keys(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let key = key("backend")
        try await store.createAPIKey(key)
        var other = key
        other.digest = Make.index().bytes
        await #expect(throws: StoreFailure.nameTaken) { try await store.createAPIKey(other) }
        #expect(try await store.apiKeys() == [key])
    }

    @Test("a key is revoked once, and its name stays taken", arguments: StoreKind.allCases)
    func revocation(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let (store, other) = (try place.open(), try place.open())
        var (first, second) = (key("backend"), key("jobs"))
        for key in [first, second] { try await store.createAPIKey(key) }
        #expect(try await !store.revokeAPIKey(named: "nobody", at: Make.now))
        let at = Make.now.advanced(by: .seconds(5))
        #expect(try await store.revokeAPIKey(named: "backend", at: at))
        #expect(try await !other.revokeAPIKey(named: "backend", at: at.advanced(by: .seconds(1))))
        first.revokedAt = at
        #expect(try await other.apiKeys() == [first, second])
        await #expect(throws: StoreFailure.nameTaken) { try await store.createAPIKey(key("backend")) }
        second.lastUsedAt = at
        try await other.noteUses(["jobs": at])
        #expect(try await store.apiKeys() == [first, second])
    }

    @Test("a key that reached nobody is taken back, and its name is free", arguments: StoreKind.allCases)
    func discarding(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let (lost, other) = (key("backend"), key("backend"))
        try await store.createAPIKey(lost)
        try await store.discardAPIKey(other)
        #expect(try await store.apiKeys() == [lost])
        try await store.discardAPIKey(lost)
        try await store.createAPIKey(other)
        #expect(try await store.apiKeys() == [other])
    }

    @Test("the last use of a key never goes back", arguments: StoreKind.allCases)
    func uses(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let stores = [try place.open(), try place.open()]
        for name in ["a", "b", "c"] { try await stores[0].createAPIKey(key(name)) }
        let times = (1...20).map { Make.now.advanced(by: .seconds($0)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, time) in times.shuffled().enumerated() {
                let store = stores[number % 2]
                group.addTask { try await store.noteUses(["a": time, "b": times[0], "nobody": time]) }
            }
            try await group.waitForAll()
        }
        try await stores[0].noteUses([:])
        #expect(try await stores[0].apiKeys().map(\.lastUsedAt) == [times[19], times[0], nil])
        #expect(try await stores[1].apiKeys().map(\.name) == ["a", "b", "c"])
    }

    private func key(_ name: String) -> APIKey {
        APIKey(
            name: name, digest: Make.index().bytes, scopes: [.admin, .consentsRead], createdAt: Make.now,
            expiresAt: Make.now.advanced(by: .seconds(1)))
    }
}
