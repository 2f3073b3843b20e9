// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import Testing

@Suite("Refreshes in any store", .places)
struct RefreshTests {
    @Test("one of many claims holds the row", arguments: StoreKind.allCases)
    func oneClaim(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let stores = [try place.open(), try place.open()]
        let id = try await stores[0].keepConsent().id
        let claims = try await withThrowingTaskGroup(of: ClaimAnswer.self) { group in
            for number in 0..<20 {
                let store = stores[number % 2]
                group.addTask { try await store.claimRefresh(Make.claim(id, Make.attempt())) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(claims.count { $0 == .claimed } == 1)
        #expect(claims.count { $0 == .held } == 19)
    }

    @Test("a claim asks for the generation that was read, and may be asked again", arguments: StoreKind.allCases)
    func claim(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let id = try await store.keepConsent().id
        let attempt = Make.attempt()
        #expect(try await store.claimRefresh(Make.claim(id, attempt, generation: 2)) == .generationMoved)
        #expect(try await store.claimRefresh(Make.claim(id, attempt)) == .claimed)
        #expect(try await store.claimRefresh(Make.claim(id, attempt)) == .claimed)
        let found = try await store.consent(id)
        #expect(found?.attempt?.id == attempt && found?.attempt?.phase == .sent)
        #expect(found?.record.timing == Make.timing())
        #expect(try await store.claimRefresh(Make.claim(ConsentID(Make.uuid()), attempt)) == .ended)
    }

    @Test("new tokens are written once, by whoever has the generation", arguments: StoreKind.allCases)
    func save(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let id = try await store.keepConsent().id
        let attempt = Make.attempt()
        _ = try await store.claimRefresh(Make.claim(id, attempt))
        #expect(try await store.saveTokens(Make.tokens(id, attempt)) == .written)
        #expect(try await store.saveTokens(Make.tokens(id, attempt)) == .alreadyWritten)
        #expect(try await store.saveTokens(Make.tokens(id, Make.attempt())) == .generationMoved)
        let found = try #require(try await store.consent(id))
        #expect(found.tokens?.text == "tokens 2" && found.record.generation == 2 && found.attempt == nil)
        #expect(found.record.lastRefreshedAt == Make.tokens(id, attempt).at)
        #expect(try await store.events(of: id).map(\.draft.type) == [.created, .refreshed, .spareKept])
    }

    @Test("a failure of generation 1 after a success writes nothing", arguments: StoreKind.allCases)
    func lateFailure(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let id = try await store.keepConsent().id
        let attempt = Make.attempt()
        _ = try await store.claimRefresh(Make.claim(id, attempt))
        #expect(try await store.saveTokens(Make.tokens(id, Make.attempt())) == .written)
        let over = Make.settlement(id, attempt, .over(.providerRejected))
        #expect(try await store.settleRefresh(over) == .generationMoved)
        let found = try #require(try await store.consent(id))
        #expect(found.record.status == .active && found.record.generation == 2)
        #expect(try await store.events(of: id).count == 2)
    }

    @Test("a failure is settled once, and a success heals", arguments: StoreKind.allCases)
    func failing(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let id = try await store.keepConsent().id
        let attempt = Make.attempt()
        let due = Make.now.advanced(by: .seconds(700))
        _ = try await store.claimRefresh(Make.claim(id, attempt))
        let stranger = Make.settlement(id, Make.attempt(), .failing(dueAt: due))
        #expect(try await store.settleRefresh(stranger) == .generationMoved)
        let failure = Make.settlement(id, attempt, .failing(dueAt: due))
        #expect(try await store.settleRefresh(failure) == .written)
        #expect(try await store.settleRefresh(failure) == .alreadyWritten)
        var found = try #require(try await store.consent(id))
        #expect(found.record.status == .failing && found.record.refreshFailures == 1)
        #expect(found.record.timing.dueAt == due && found.attempt == nil)
        let second = Make.attempt()
        #expect(try await store.claimRefresh(Make.claim(id, second)) == .claimed)
        #expect(try await store.saveTokens(Make.tokens(id, second)) == .written)
        found = try #require(try await store.consent(id))
        #expect(found.record.status == .active && found.record.refreshFailures == 0)
    }

    @Test("a lease given back leaves the row as it was", arguments: StoreKind.allCases)
    func released(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let id = try await store.keepConsent().id
        let before = try #require(try await store.consent(id))
        let attempt = Make.attempt()
        _ = try await store.claimRefresh(Make.claim(id, attempt))
        #expect(try await store.settleRefresh(Make.settlement(id, attempt, .released)) == .written)
        let after = try #require(try await store.consent(id))
        #expect(after.text == before.text)
    }

    @Test("an unknown outcome stays on the row until a definite answer", arguments: StoreKind.allCases)
    func unknown(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let id = try await store.keepConsent().id
        let (first, second, third) = (Make.attempt(), Make.attempt(), Make.attempt())
        _ = try await store.claimRefresh(Make.claim(id, first))
        #expect(try await store.settleRefresh(Make.settlement(id, first, .unknown(dueAt: nil))) == .written)
        #expect(try await store.settleRefresh(Make.settlement(id, first, .unknown(dueAt: nil))) == .alreadyWritten)
        let unknown = try #require(try await store.consent(id)?.attempt)
        #expect(unknown.id == first && unknown.phase == .unknown)
        // Whoever has not seen it must not send.
        #expect(try await store.claimRefresh(Make.claim(id, second)) == .held)
        #expect(try await store.claimRefresh(Make.claim(id, second, judged: third)) == .held)
        // What was never sent, or not processed, says nothing about the one before.
        #expect(try await store.claimRefresh(Make.claim(id, second, judged: first)) == .claimed)
        #expect(try await store.settleRefresh(Make.settlement(id, second, .released)) == .written)
        #expect(try await store.consent(id)?.attempt == unknown)
        #expect(try await store.claimRefresh(Make.claim(id, third, judged: first)) == .claimed)
        #expect(try await store.settleRefresh(Make.settlement(id, third, .failing(dueAt: Make.now))) == .written)
        #expect(try await store.consent(id)?.attempt == unknown)
        #expect(try await store.saveTokens(Make.tokens(id, first)) == .written)
        #expect(try await store.consent(id)?.attempt == nil)
    }

    @Test("the provider's word ends the grant and keeps its tokens sealed", arguments: StoreKind.allCases)
    func over(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let id = try await store.keepConsent().id
        let attempt = Make.attempt()
        _ = try await store.claimRefresh(Make.claim(id, attempt))
        #expect(try await store.settleRefresh(Make.settlement(id, attempt, .over(.providerRejected))) == .written)
        let found = try #require(try await store.consent(id))
        #expect(found.record.status == .reauthorizationRequired && found.record.statusReason == .providerRejected)
        #expect(found.record.timing.dueAt == nil && found.tokens?.text == "tokens 1")
        #expect(try await store.claimRefresh(Make.claim(id, Make.attempt())) == .ended)
        // A success that was on its way heals it all the same.
        #expect(try await store.saveTokens(Make.tokens(id, Make.attempt())) == .written)
        #expect(try await store.consent(id)?.record.status == .active)
    }

    @Test("a dead instance's refresh is named unknown before anybody sends again", arguments: StoreKind.allCases)
    func deadSender(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let (dying, store) = (try place.open(), try place.open())
        let id = try await store.keepConsent().id
        let attempt = Make.attempt()
        _ = try await dying.claimRefresh(Make.claim(id, attempt))
        place.kill(dying)
        #expect(try await store.claimRefresh(Make.claim(id, Make.attempt())) == .held)
        let found = try #require(try await store.consent(id)?.attempt)
        #expect(found.id == attempt && found.phase == .unknown)
        let events = try await store.events(of: id)
        #expect(events.map(\.draft.type) == [.created, .refreshFailed])
        #expect(events.last?.draft.data == ["failure": .text("refresh_unknown")])
        #expect(try await store.claimRefresh(Make.claim(id, Make.attempt())) == .held, "it has not seen that")
        #expect(try await store.claimRefresh(Make.claim(id, Make.attempt(), judged: attempt)) == .claimed)
    }

    @Test("what dead instances left is named, and their grants are handed over", arguments: StoreKind.allCases)
    func abandoned(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let (dying, living, store) = (try place.open(), try place.open(), try place.open())
        var kept: Set<BlindIndex> = []
        var refreshed: [ConsentID] = []
        for instance in [dying, living] {
            let id = try await instance.keepConsent().id
            refreshed.append(id)
            _ = try await instance.claimRefresh(Make.claim(id, Make.attempt()))
            _ = try await instance.reserveCode(Make.reservation())
            for _ in 0..<3 {
                let code = try await instance.keepGrant()
                if instance === dying { kept.insert(code) }
            }
        }
        place.kill(dying)
        let first = try await store.adoptAbandoned(limit: 2, policies: [:], at: Make.now)
        #expect(first.codesNamedUnknown == 1 && first.refreshesNamedUnknown == 1)
        let second = try await store.adoptAbandoned(limit: 2, policies: [:], at: Make.now)
        #expect(second.codesNamedUnknown == 0 && second.refreshesNamedUnknown == 0)
        #expect(try await store.events(of: refreshed[0]).map(\.draft.type) == [.created, .refreshFailed])
        #expect(try await store.events(of: refreshed[0]).last?.draft.data == ["failure": .text("refresh_unknown")])
        #expect(try await store.events(of: refreshed[1]).map(\.draft.type) == [.created])
        let grants = first.grants + second.grants
        #expect(first.grants.count == 2 && Set(grants.map(\.code)) == kept)
        #expect(grants.allSatisfy { $0.sealed.text == "grant" })
        #expect(try await store.adoptAbandoned(limit: 2, policies: [:], at: Make.now).grants.isEmpty)
    }

    @Test(
        "what a dead instance had on the wire is due at once where a grace takes it once more, and else at its lease's end",
        arguments: StoreKind.allCases)
    func abandonedWithinGrace(_ kind: StoreKind) async throws {
        var policies: [ProviderKey: RefreshPolicy] = [:]
        policies[Make.provider] = RefreshPolicy(
            kind: .keepFresh, interval: .seconds(3600), reuse: .grace(.seconds(60)), idleLife: nil,
            defaultLifetime: .seconds(3600))
        for (age, isDue) in [(10, true), (52, true), (54, false)] {
            let place = try StorePlace(kind)
            let (dying, store) = (try place.open(), try place.open())
            let id = try await dying.keepConsent().id
            #expect(try await dying.claimRefresh(Make.claim(id, Make.attempt())) == .claimed)
            let sentAt = try #require(try await store.consent(id)?.attempt).sentAt
            place.kill(dying)
            let now = sentAt.advanced(by: .seconds(age))
            #expect(try await store.adoptAbandoned(limit: 9, policies: policies, at: now).refreshesNamedUnknown == 1)
            let dueAt = try #require(try await store.consent(id)?.record.timing.dueAt)
            #expect((dueAt == now) == isDue, "after \(age) s")
        }
    }

    @Test(
        "what a dead instance had on the wire is not due before its access token lapses where it may cost the grant",
        arguments: StoreKind.allCases, [RefreshPolicy.Reuse.forbidden, .fixed])
    func abandonedForbidden(_ kind: StoreKind, reuse: RefreshPolicy.Reuse) async throws {
        let policy = RefreshPolicy(
            kind: .keepFresh, interval: .seconds(3600), reuse: reuse, idleLife: nil, defaultLifetime: .seconds(3600))
        let place = try StorePlace(kind)
        let (dying, store) = (try place.open(), try place.open())
        let id = try await dying.keepConsent().id
        #expect(try await dying.claimRefresh(Make.claim(id, Make.attempt())) == .claimed)
        place.kill(dying)
        _ = try await store.adoptAbandoned(limit: 9, policies: [Make.provider: policy], at: Make.now)
        let timing = try #require(try await store.consent(id)?.record.timing)
        let due = try #require(timing.dueAt)
        #expect(reuse == .forbidden ? due == timing.accessTokenExpiresAt : due < timing.accessTokenExpiresAt)
    }

    @Test(
        "a second sending without a known end has the first one's time, and says that it is the second",
        arguments: StoreKind.allCases, [true, false])
    func sentTwice(_ kind: StoreKind, isSecondSenderDead: Bool) async throws {
        let place = try StorePlace(kind)
        let stores = [try place.open(), try place.open()]
        let id = try await stores[1].keepConsent().id
        let (first, second) = (Make.attempt(), Make.attempt())
        #expect(try await stores[1].claimRefresh(Make.claim(id, first)) == .claimed)
        #expect(try await stores[1].settleRefresh(Make.settlement(id, first, .unknown(dueAt: nil))) == .written)
        let once = try #require(try await stores[1].consent(id)?.attempt)
        #expect(!once.isRepeated)
        var again = Make.claim(id, second, at: Make.now.advanced(by: .seconds(20)))
        again.judged = first
        #expect(try await stores[0].claimRefresh(again) == .claimed)
        if isSecondSenderDead {
            place.kill(stores[0])
            let found = try await stores[1].adoptAbandoned(limit: 9, policies: [:], at: Make.now)
            #expect(found.refreshesNamedUnknown == 1)
        } else {
            #expect(try await stores[0].settleRefresh(Make.settlement(id, second, .unknown(dueAt: nil))) == .written)
        }
        let twice = try #require(try await stores[1].consent(id)?.attempt)
        #expect(twice.isRepeated && twice.sentAt == once.sentAt && twice.id == second)
        var third = Make.claim(id, Make.attempt())
        third.judged = second
        #expect(try await stores[1].claimRefresh(third) == .claimed)
        #expect(try await stores[1].saveTokens(Make.tokens(id, third.attempt)) == .written)
        #expect(try await stores[1].consent(id)?.attempt == nil)
    }
}
