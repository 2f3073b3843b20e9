// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import Testing

@Suite("What waits in any store", .places)
struct WaitingWorkTests {
    private static let nothing = WaitingWork(
        grants: 0, codesOnTheWire: 0, refreshesOnTheWire: 0, revocations: [], refreshes: [], profiles: [])
    private let acme = ProviderKey(name: "acme", environment: nil)
    /// After every `due_at` that `Make` gives.
    private let late = Make.now.advanced(by: .seconds(3600))

    @Test("nothing waits in an empty store", arguments: StoreKind.allCases)
    func empty(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        #expect(try await store.waitingWork(at: late) == WaitingWorkTests.nothing)
    }

    @Test("due refreshes and pending profiles are counted by provider, those of ended consents are not")
    func byProvider() async throws {
        let store = try StorePlace(.sqlite).open()
        for _ in 0..<2 { _ = try await store.keepConsent() }
        _ = try await store.keepConsent(Make.consent(providerSubject: nil, provider: acme))
        let withdrawn = try await store.keepConsent(Make.consent(providerSubject: nil)).id
        #expect(try await store.withdraw(Make.withdrawal(withdrawn, expecting: 1, [])) == .withdrawn)
        var waiting = try await store.waitingWork(at: late)
        #expect(
            waiting.refreshes == [
                ProviderCount(provider: acme, count: 1), ProviderCount(provider: Make.provider, count: 2),
            ])
        #expect(waiting.profiles == [ProviderCount(provider: acme, count: 1)])
        waiting = try await store.waitingWork(at: Make.now)
        #expect(waiting.refreshes.isEmpty)
    }

    @Test(
        "live grants are counted by provider and environment, by who does not open the store",
        arguments: StoreKind.allCases)
    func live(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let store = try place.open()
        #expect(try SQLStore.liveGrants(in: place.location()).isEmpty)
        for _ in 0..<2 { _ = try await store.keepConsent() }
        _ = try await store.keepConsent(Make.consent(provider: acme))
        let withdrawn = try await store.keepConsent(Make.consent(provider: acme)).id
        #expect(try await store.withdraw(Make.withdrawal(withdrawn, expecting: 1, [])) == .withdrawn)
        #expect(
            try SQLStore.liveGrants(in: place.location()) == [
                ProviderCount(provider: acme, count: 1), ProviderCount(provider: Make.provider, count: 2),
            ])
    }

    @Test("what living instances have on the wire does not wait, what ended ones left does, and looking leaves it so")
    func onTheWire() async throws {
        let place = try StorePlace(.sqlite)
        let (owner, store) = (try place.open(), try place.open())
        _ = try await owner.reserveCode(Make.reservation())
        _ = try await owner.keepGrant()
        let id = try await owner.keepConsent().id
        _ = try await owner.claimRefresh(Make.claim(id, Make.attempt(), at: late))
        try await owner.queueRevocations(Make.deliveries(of: ConsentID(Make.uuid())), at: Make.now)
        #expect(try await owner.claimRevocations(limit: 1, lease: .seconds(120), at: late).count == 1)
        let living = try await store.waitingWork(at: late)
        #expect(living.revocations == [ProviderCount(provider: Make.provider, count: 1)])
        #expect((living.grants, living.codesOnTheWire, living.refreshesOnTheWire) == (0, 0, 0))
        #expect(living.refreshes.isEmpty)
        place.kill(owner)
        for _ in 0..<2 {
            let left = try await store.waitingWork(at: late)
            #expect(left.revocations == [ProviderCount(provider: Make.provider, count: 2)])
            #expect((left.grants, left.codesOnTheWire, left.refreshesOnTheWire) == (1, 1, 1))
        }
        let abandoned = try await store.adoptAbandoned(limit: 100, policies: [:], at: late)
        #expect(abandoned.grants.count == 1 && abandoned.codesNamedUnknown == 1)
        #expect(abandoned.refreshesNamedUnknown == 1)
    }
}
