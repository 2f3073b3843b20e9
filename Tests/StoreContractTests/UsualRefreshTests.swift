// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import Testing

@Suite("Refreshes of grants that are as they were found, in any store", .places)
struct UsualRefreshTests {
    /// Tokens of a grant as it was read before its claim.
    private func claimed(_ id: ConsentID, in store: SQLStore) async throws -> TokenWrite {
        let found = try #require(try await store.refreshableGrant(id))
        let attempt = Make.attempt()
        #expect(try await store.claimRefresh(Make.claim(id, attempt, generation: found.generation)) == .claimed)
        var write = Make.tokens(id, attempt, expecting: found.generation)
        write.foundChain = found.chain
        return write
    }

    @Test("tokens go behind the end of the chain that was found", arguments: StoreKind.allCases)
    func chain(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let id = try await store.keepConsent().id
        let write = try await claimed(id, in: store)
        #expect(try await store.saveTokens(write) == .written)
        #expect(try await store.saveTokens(write) == .alreadyWritten)
        let events = try await store.events(of: id)
        #expect(events.map(\.draft.type) == [.created, .refreshed] && events.map(\.sequence) == [1, 2])
        let found = try #require(try await store.refreshableGrant(id))
        #expect(found.generation == 2 && found.attempt == nil && found.envelopes.tokens?.text == "tokens 2")
        #expect(found.chain == ChainEnd(count: 2, head: events[1].mac))
    }

    @Test("where the chain has moved since, the tokens go behind its new end", arguments: StoreKind.allCases)
    func movedChain(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let id = try await store.keepConsent().id
        let write = try await claimed(id, in: store)
        try await store.append(Make.event(.tokenRead), to: id)
        #expect(try await store.saveTokens(write) == .written)
        let events = try await store.events(of: id)
        #expect(events.map(\.draft.type) == [.created, .tokenRead, .refreshed] && events.map(\.sequence) == [1, 2, 3])
        let found = try #require(try await store.refreshableGrant(id))
        #expect(found.generation == 2 && found.chain == ChainEnd(count: 3, head: events[2].mac))
    }

    @Test("tokens of a grant that failed before make it active again", arguments: StoreKind.allCases)
    func healing(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let id = try await store.keepConsent().id
        let failing = Make.attempt()
        #expect(try await store.claimRefresh(Make.claim(id, failing)) == .claimed)
        #expect(try await store.settleRefresh(Make.settlement(id, failing, .failing(dueAt: Make.now))) == .written)
        let write = try await claimed(id, in: store)
        #expect(try await store.saveTokens(write) == .written)
        let record = try #require(try await store.consent(id)?.record)
        #expect(record.status == .active && record.refreshFailures == 0 && record.generation == 2)
    }

    @Test("tokens tell of a provider whose calls had failed that it is well", arguments: StoreKind.allCases)
    func providerIsWell(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let id = try await store.keepConsent().id
        try await store.note(.unreachable, of: Make.attempt(), at: Make.provider, now: Make.now, spread: 0)
        #expect(try await store.providerStates().map(\.health.failures) == [1])
        var write = try await claimed(id, in: store)
        write.health = HealthNote(provider: Make.provider, event: .succeeded(.grant(id)), spread: 0)
        #expect(try await store.saveTokens(write) == .written)
        #expect(try await store.providerStates() == [])
        #expect(try await store.events(of: id).map(\.draft.type) == [.created, .refreshed])
    }

    @Test("tokens of a grant that was withdrawn meanwhile are not stored", arguments: StoreKind.allCases)
    func withdrawn(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let id = try await store.keepConsent().id
        let write = try await claimed(id, in: store)
        _ = try await store.withdraw(Make.withdrawal(id, Make.deliveries(of: id)))
        #expect(try await store.saveTokens(write) == .ended)
        #expect(try await store.consent(id)?.tokens == nil)
        #expect(try await store.events(of: id).map(\.draft.type) == [.created, .revoked])
    }

    @Test("a claim of a due grant holds only where it is due", arguments: StoreKind.allCases)
    func due(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let id = try await store.keepConsent().id
        let due = try #require(try await store.refreshableGrant(id)?.timing.dueAt)
        var early = Make.claim(id, Make.attempt(), at: due.advanced(by: .milliseconds(-1)))
        early.isOfDue = true
        #expect(try await store.claimRefresh(early) == .notDue)
        var inTime = Make.claim(id, Make.attempt(), at: due)
        inTime.isOfDue = true
        #expect(try await store.claimRefresh(inTime) == .claimed)
    }
}
