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

    /// Five that were declared dead one after the other: the brake holds from the fifth, and all of their verdicts.
    private func braked(_ store: SQLStore) async throws -> [ConsentID] {
        var ids: [ConsentID] = []
        for _ in 0..<5 { ids.append(try await store.keepConsent().id) }
        for (number, id) in ids.enumerated() {
            let answer = try await settled(
                store, id, .over(.providerRejected), .declaredDead(.grant(id)), at: at(number))
            #expect(answer == (number < 4 ? .written : .verdictHeld))
        }
        let states = try await store.providerStates()
        #expect(states.map(\.heldVerdicts) == [5])
        for id in ids { #expect(try await store.consent(id)?.record.status == .failing) }
        return ids
    }

    @Test("verdicts that are held become true when an operator confirms them", arguments: StoreKind.allCases)
    func confirm(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let ids = try await braked(store)
        let decided = try await store.decideVerdicts(
            of: Make.provider, as: .confirm, limit: 10, caller: "command line", at: at(10))
        #expect(decided == VerdictsDecided(count: 5, isPart: false))
        for id in ids { #expect(try await store.consent(id)?.record.status == .reauthorizationRequired) }
        #expect(try await store.events(of: ids[4]).map(\.draft.type) == [.created, .reauthorizationRequired])
    }

    @Test("dismissed, they are tried again, and so are those declared dead just before", arguments: StoreKind.allCases)
    func dismiss(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let ids = try await braked(store)
        let decided = try await store.decideVerdicts(
            of: Make.provider, as: .dismiss, limit: 10, caller: "command line", at: at(10))
        #expect(decided.count == 5)
        for id in ids { #expect(try await store.consent(id)?.record.status == .failing) }
        #expect(try await store.events(of: ids[0]).last?.draft.data["failure"] == .text("verdict_held"))
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

    @Test(
        "of twenty grants eleven must die, of those that came out well before the first death as many as there were",
        arguments: StoreKind.allCases)
    func window(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        for _ in 0..<25 {
            let (id, attempt) = (try await store.keepConsent().id, Make.attempt())
            _ = try await store.claimRefresh(Make.claim(id, attempt, at: at(0)))
            #expect(try await store.saveTokens(Make.tokens(id, attempt)) == .written)
        }
        #expect(try await store.providerStates() == [], "a success costs no write")
        var ids: [ConsentID] = []
        for _ in 0..<16 { ids.append(try await store.keepConsent().id) }
        for (number, id) in ids.prefix(11).enumerated() {
            let answer = try await settled(
                store, id, .over(.providerRejected), .declaredDead(.grant(id)), at: at(number))
            #expect(answer == (number < 10 ? .written : .verdictHeld))
        }
        #expect(try await store.providerStates().map(\.heldVerdicts) == [11])
    }

    @Test(
        "of a few grants all count: five of nine are over half, four of them are too few", arguments: StoreKind.allCases
    )
    func few(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        for _ in 0..<4 {
            let (id, attempt) = (try await store.keepConsent().id, Make.attempt())
            _ = try await store.claimRefresh(Make.claim(id, attempt, at: at(0)))
            _ = try await store.saveTokens(Make.tokens(id, attempt))
        }
        var ids: [ConsentID] = []
        for _ in 0..<5 { ids.append(try await store.keepConsent().id) }
        for (number, id) in ids.enumerated() {
            let answer = try await settled(
                store, id, .over(.providerRejected), .declaredDead(.grant(id)), at: at(number))
            #expect(answer == (number < 4 ? .written : .verdictHeld))
        }
    }

    @Test(
        "tokens for another grant make those due whose verdicts are held, and keep the next trial for them",
        arguments: StoreKind.allCases)
    func otherTokens(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let (other, third) = (try await store.keepConsent().id, try await store.keepConsent().id)
        let ids = try await braked(store)
        let attempt = Make.attempt()
        #expect(try await store.claimRefresh(Make.claim(other, attempt, at: at(64))) == .claimed)
        var tokens = Make.tokens(other, attempt)
        tokens.at = at(65)
        tokens.health = HealthNote(provider: Make.provider, event: .succeeded(.grant(other)), spread: 0)
        #expect(try await store.saveTokens(tokens) == .written)
        let next = Make.claim(third, Make.attempt(), at: at(130))
        #expect(try await store.claimRefresh(next) == .blocked(until: at(135), .brake))
        let due = try await store.dueRefreshes(of: Make.provider, policy: Make.policy, at: at(130), limit: 3)
        #expect(due.count == 3 && due.allSatisfy { $0.isHeld && ids.contains($0.id) })
        #expect(try await store.claimRefresh(Make.claim(due[0].id, Make.attempt(), at: at(130))) == .claimed)
    }

    @Test(
        "whoever ends with a refresh on the wire leaves one trial at a time where that may cost a grant, at once",
        arguments: StoreKind.allCases, [true, false])
    func abandoned(_ kind: StoreKind, isFoundByClaim: Bool) async throws {
        let place = try StorePlace(kind)
        let stores = [try place.open(), try place.open()]
        let ids = [
            try await stores[0].keepConsent().id, try await stores[0].keepConsent().id,
            try await stores[0].keepConsent().id,
        ]
        #expect(try await stores[0].claimRefresh(Make.claim(ids[0], Make.attempt(), at: at(0))) == .claimed)
        place.kill(stores[0])
        if isFoundByClaim {
            var claim = Make.claim(ids[0], Make.attempt(), at: at(1))
            claim.costsGrants = true
            #expect(try await stores[1].claimRefresh(claim) == .held)
        } else {
            let found = try await stores[1].adoptAbandoned(
                limit: 9, policies: [Make.provider: Make.policy], at: at(1))
            #expect(found.refreshesNamedUnknown == 1)
        }
        let state = try #require(try await stores[1].providerStates().first)
        #expect(state.health.breaker?.reason == .unknown)
        let trial = Make.attempt()
        #expect(try await stores[1].claimRefresh(Make.claim(ids[1], trial, at: at(1))) == .claimed)
        let second = try await stores[1].claimRefresh(Make.claim(ids[2], Make.attempt(), at: at(2)))
        #expect(second == .blocked(until: at(7), .breaker))
        var tokens = Make.tokens(ids[1], trial)
        tokens.health = HealthNote(provider: Make.provider, event: .succeeded(.grant(ids[1])), spread: 0)
        #expect(try await stores[1].saveTokens(tokens) == .written)
        #expect(try await stores[1].claimRefresh(Make.claim(ids[2], Make.attempt(), at: at(2))) == .claimed)
    }

    @Test(
        "where the old token may be sent again, or nobody knows the provider, it leaves nothing",
        arguments: StoreKind.allCases)
    func abandonedHarmless(_ kind: StoreKind) async throws {
        var fixed = Make.policy
        fixed.reuse = .fixed
        for policies in [[:], [Make.provider: fixed]] as [[ProviderKey: RefreshPolicy]] {
            let place = try StorePlace(kind)
            let stores = [try place.open(), try place.open()]
            let id = try await stores[0].keepConsent().id
            #expect(try await stores[0].claimRefresh(Make.claim(id, Make.attempt(), at: at(0))) == .claimed)
            place.kill(stores[0])
            let found = try await stores[1].adoptAbandoned(limit: 9, policies: policies, at: at(1))
            #expect(found.refreshesNamedUnknown == 1)
            #expect(try await stores[1].providerStates() == [])
        }
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
