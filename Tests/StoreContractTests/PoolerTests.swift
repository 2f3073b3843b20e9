// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import NativeSystem
import TestServers
import Testing

@Suite("The store behind PgBouncer in transaction mode", .places, .enabled(if: PostgresDatabase.hasServer))
struct PoolerTests {
    private func open(
        _ url: String, direct: String?, in place: StorePlace, _ instance: InstanceID = Make.instance()
    ) throws -> SQLStore {
        let server = try PostgresServer(
            url: url, directURL: direct, password: nil, pool: 4, applicationName: "test")
        return try SQLStore.open(
            .server(server), stateDirectory: place.stateDirectory, instance: instance, ledger: FakeLedger(),
            migrations: .automatic, limits: .standard, metrics: place.metrics, time: place.clock,
            telling: StoreClock(), at: Make.now)
    }

    @Test("two instances on two connections keep, refresh and withdraw, and each sees that the other lives")
    func works() async throws {
        let cluster = try await PostgresCluster()
        let pooled = try await cluster.pooler()
        let place = try StorePlace(.sqlite)
        let (first, second) = (
            try open(pooled, direct: cluster.url, in: place), try open(pooled, direct: cluster.url, in: place)
        )
        defer { second.close() }
        let id = try await first.keepConsent().id
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                group.addTask { try await [first, second][number % 2].append(Make.event(.refreshed), to: id) }
            }
            try await group.waitForAll()
        }
        #expect(try await first.events(of: id).map(\.sequence) == Array(1...61))
        let attempt = Make.attempt()
        #expect(try await first.claimRefresh(Make.claim(id, attempt)) == .claimed)
        #expect(try await second.claimRefresh(Make.claim(id, Make.attempt())) == .held)
        #expect(try await first.saveTokens(Make.tokens(id, attempt)) == .written)
        #expect(
            try await second.withdraw(Make.withdrawal(id, expecting: 2, Make.deliveries(of: id))) == .withdrawn)
        let other = try await first.keepConsent().id
        #expect(try await first.claimRefresh(Make.claim(other, Make.attempt())) == .claimed)
        first.close()
        let found = try await second.adoptAbandoned(limit: 10, policies: [:], at: Make.now)
        #expect(found.refreshesNamedUnknown == 1)
    }

    @Test("without an address past the pooler, or with one that leads to it, a start is refused in a sentence")
    func refused() async throws {
        let cluster = try await PostgresCluster()
        let pooled = try await cluster.pooler()
        let place = try StorePlace(.sqlite)
        for direct in [nil, pooled] {
            let failure = #expect(throws: StoreFailure.self) {
                for _ in 0..<4 { try open(pooled, direct: direct, in: place).close() }
            }
            #expect(failure.map { "\($0)".contains("a pooler in transaction mode") } == true, "\(failure as Any)")
        }
    }
}
