// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import Testing

/// Two instances on one store: what one has seen of a provider holds for the other.
@Suite("What calls show of a provider, in any store", .places)
struct ProviderStateTests {
    private func at(_ seconds: Int) -> Instant { Make.now.advanced(by: .seconds(seconds)) }

    private func settled(
        _ store: SQLStore, _ id: ConsentID, _ change: RefreshSettlement.Change, _ event: HealthEvent, at now: Instant
    ) async throws -> WriteAnswer {
        let attempt = Make.attempt()
        guard try await store.claimRefresh(Make.claim(id, attempt, at: now)) == .claimed else {
            throw Unexpected("not claimed")
        }
        var settlement = RefreshSettlement(
            id: id, generation: 1, attempt: attempt, change: change, at: now, events: [])
        settlement.health = HealthNote(provider: Make.provider, event: event, spread: 0)
        return try await store.settleRefresh(settlement)
    }

    @Test("a 429 to one instance keeps all of them from sending anything for its time", arguments: StoreKind.allCases)
    func gate(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let stores = [try place.open(), try place.open()]
        let ids = [try await stores[0].keepConsent().id, try await stores[0].keepConsent().id]
        let gated = try await settled(
            stores[0], ids[0], .released, .throttled(retryAfter: .seconds(120)), at: at(0))
        #expect(gated == .written)
        for store in stores {
            for id in ids {
                for second in [0, 60, 119] {
                    let claim = Make.claim(id, Make.attempt(), at: at(second))
                    #expect(try await store.claimRefresh(claim) == .blocked(until: at(120), .gate))
                    guard
                        case .blocked(until: at(120), .gate) = try await store.reserveCode(
                            Make.reservation(at: at(second)))
                    else { throw Unexpected("a code that may be sent") }
                }
            }
        }
        #expect(try await stores[1].blockedProviders(at: at(10))[Make.provider]?.reason == .gate)
        #expect(try await stores[1].claimRefresh(Make.claim(ids[1], Make.attempt(), at: at(120))) == .claimed)
        #expect(try await stores[0].claimRefresh(Make.claim(ids[0], Make.attempt(), at: at(120))) == .claimed)
    }

    @Test(
        "a paused provider has one trial a minute among all instances, and a dead one's is free at once",
        arguments: StoreKind.allCases)
    func pause(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let stores = [try place.open(), try place.open()]
        let ids = [
            try await stores[0].keepConsent().id, try await stores[0].keepConsent().id,
            try await stores[0].keepConsent().id,
        ]
        let refused = HealthEvent.credentialsRefused(.grant(ids[0]), isByName: true)
        let paused = try await settled(stores[0], ids[0], .deferred(dueAt: at(70)), refused, at: at(0))
        #expect(paused == .written)
        #expect(try await stores[0].consent(ids[0])?.record.status == .active)
        let early = try await stores[1].claimRefresh(Make.claim(ids[1], Make.attempt(), at: at(59)))
        #expect(early == .blocked(until: at(60), .pause))
        #expect(try await stores[1].claimRefresh(Make.claim(ids[1], Make.attempt(), at: at(60))) == .claimed)
        var asked = Make.claim(ids[2], Make.attempt(), at: at(61))
        asked.asker = .operatorsRefresh
        #expect(try await stores[0].claimRefresh(asked) == .blocked(until: at(66), .pause))
        place.kill(stores[1])
        #expect(try await stores[0].claimRefresh(asked) == .claimed)
        var tokens = Make.tokens(ids[2], asked.attempt)
        tokens.health = HealthNote(provider: Make.provider, event: .succeeded(.grant(ids[2])), spread: 0)
        #expect(try await stores[0].saveTokens(tokens) == .written)
        #expect(try await stores[0].providerStates() == [])
    }

    /// Five that were declared dead one after the other: the brake holds from the fifth.
    private func braked(_ store: SQLStore) async throws -> [ConsentID] {
        var ids: [ConsentID] = []
        for _ in 0..<5 { ids.append(try await store.keepConsent().id) }
        for (number, id) in ids.enumerated() {
            let answer = try await settled(
                store, id, .over(.providerRejected), .declaredDead(.grant(id)), at: at(number))
            #expect(answer == (number < 4 ? .written : .verdictHeld))
        }
        let states = try await store.providerStates()
        #expect(states.map(\.heldVerdicts) == [1])
        #expect(try await store.consent(ids[4])?.record.status == .failing)
        #expect(try await store.consent(ids[3])?.record.status == .reauthorizationRequired)
        return ids
    }

    @Test("verdicts that are held become true when an operator confirms them", arguments: StoreKind.allCases)
    func confirm(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let ids = try await braked(store)
        let decided = try await store.decideVerdicts(
            of: Make.provider, as: .confirm, limit: 10, caller: "command line", at: at(10))
        #expect(decided == VerdictsDecided(count: 1, isPart: false))
        for id in ids { #expect(try await store.consent(id)?.record.status == .reauthorizationRequired) }
        #expect(try await store.events(of: ids[4]).map(\.draft.type) == [.created, .reauthorizationRequired])
    }

    @Test("dismissed, they are tried again, and so are those declared dead just before", arguments: StoreKind.allCases)
    func dismiss(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let ids = try await braked(store)
        let decided = try await store.decideVerdicts(
            of: Make.provider, as: .dismiss, limit: 10, caller: "command line", at: at(10))
        #expect(decided.count == 1)
        for id in ids { #expect(try await store.consent(id)?.record.status == .failing) }
        #expect(try await store.events(of: ids[0]).last?.draft.data["failure"] == .text("verdict_dismissed"))
        #expect(try await store.claimRefresh(Make.claim(ids[0], Make.attempt(), at: at(11))) == .claimed)
    }

    @Test("tokens for a grant whose verdict is held let all of them go", arguments: StoreKind.allCases)
    func contradicted(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let ids = try await braked(store)
        let attempt = Make.attempt()
        let blocked = try await store.claimRefresh(Make.claim(ids[4], attempt, at: at(10)))
        #expect(blocked == .blocked(until: at(64), .brake))
        #expect(try await store.claimRefresh(Make.claim(ids[4], attempt, at: at(64))) == .claimed)
        var tokens = Make.tokens(ids[4], attempt)
        tokens.health = HealthNote(provider: Make.provider, event: .succeeded(.grant(ids[4])), spread: 0)
        #expect(try await store.saveTokens(tokens) == .written)
        #expect(try await store.consent(ids[0])?.record.status == .failing)
        #expect(try await store.providerStates().map(\.heldVerdicts) == [0])
    }

    @Test("a recovered provider's failing grants are due one after the other", arguments: StoreKind.allCases)
    func spread(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        var ids: [ConsentID] = []
        for _ in 0..<7 {
            let id = try await store.keepConsent().id
            ids.append(id)
            _ = try await settled(store, id, .failing(dueAt: at(9000)), .nothing, at: at(0))
        }
        var (after, start, count) = (ConsentID?.none, at(100), 0)
        repeat {
            let part = try await store.spreadFailing(
                of: Make.provider, after: after, from: start, spacing: .seconds(2), limit: 3, at: at(100))
            (after, count) = (part.next, count + part.count)
            start = start.advanced(by: .seconds(2 * part.count))
        } while after != nil
        #expect(count == 7)
        var due: [Instant?] = []
        for id in ids { due.append(try await store.consent(id)?.record.timing.dueAt) }
        #expect(Set(due) == Set((0..<7).map { at(100 + 2 * $0) }))
    }

    @Test("which secret worked last is known to all", arguments: StoreKind.allCases)
    func secret(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let stores = [try place.open(), try place.open()]
        #expect(try await stores[1].firstSecret(of: Make.provider) == nil)
        let digest = Make.index()
        try await stores[0].keepFirstSecret(digest, of: Make.provider, at: at(0))
        #expect(try await stores[1].firstSecret(of: Make.provider) == digest)
        #expect(try await stores[1].providerStates() == [])
    }
}
