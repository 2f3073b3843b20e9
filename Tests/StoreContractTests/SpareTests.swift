// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import Testing

@Suite("Spares in any store", .places)
struct SpareTests {
    /// Two refreshes of one generation: the first one's lease is over when the second begins, and it answers last.
    private func race(_ store: SQLStore) async throws -> (id: ConsentID, loser: AttemptID) {
        let id = try await store.keepConsent().id
        let (loser, winner) = (Make.attempt(), Make.attempt())
        _ = try await store.claimRefresh(Make.claim(id, loser))
        #expect(try await store.saveTokens(Make.tokens(id, winner)) == .written)
        var write = Make.tokens(id, loser)
        write.tokens = Make.sealed("spare")
        for _ in 0..<2 { #expect(try await store.saveTokens(write) == .generationMoved) }
        return (id, loser)
    }

    @Test(
        "tokens that come second are kept once, and told; the next success destroys them", arguments: StoreKind.allCases
    )
    func kept(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let id = try await race(store).id
        let found = try #require(try await store.consent(id))
        #expect(found.spare == SpareTokens(sealed: Make.sealed("spare"), generation: 2))
        #expect(found.tokens?.text == "tokens 2" && found.record.generation == 2)
        #expect(try await store.events(of: id).map(\.draft.type) == [.created, .refreshed, .spareKept])
        #expect(try await store.saveTokens(Make.tokens(id, Make.attempt(), expecting: 2)) == .written)
        #expect(try await store.consent(id)?.spare == nil)
    }

    @Test(
        "a spare takes the place of refused tokens once, for the attempt that was refused",
        arguments: StoreKind.allCases)
    func promoted(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let id = try await race(store).id
        let attempt = Make.attempt()
        #expect(try await store.promoteSpare(promotion(id, attempt)) == .generationMoved)
        _ = try await store.claimRefresh(Make.claim(id, attempt, generation: 2))
        #expect(try await store.promoteSpare(promotion(id, attempt)) == .written)
        #expect(try await store.promoteSpare(promotion(id, attempt)) == .alreadyWritten)
        let found = try #require(try await store.consent(id))
        #expect(found.tokens?.text == "promoted" && found.record.generation == 3)
        #expect(found.spare == nil && found.attempt == nil)
        #expect(try await store.events(of: id).last?.draft.type == .spareTried)
        #expect(try await store.claimRefresh(Make.claim(id, Make.attempt(), generation: 3)) == .claimed)
    }

    @Test("a spare that is put to use ends the trial that its refused tokens were", arguments: StoreKind.allCases)
    func trial(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let id = try await race(store).id
        try await store.note(
            .unknown(costsGrants: true), of: Make.attempt(), at: Make.provider, now: Make.now, spread: 0)
        let (attempt, later) = (Make.attempt(), Make.now.advanced(by: .seconds(30)))
        #expect(try await store.claimRefresh(Make.claim(id, attempt, generation: 2, at: later)) == .claimed)
        var promotion = promotion(id, attempt)
        promotion.health = HealthNote(provider: Make.provider, event: .codeRefused, spread: 0)
        #expect(try await store.promoteSpare(promotion) == .written)
        #expect(try await store.claimRefresh(Make.claim(id, Make.attempt(), generation: 3, at: later)) == .claimed)
    }

    @Test(
        "old tokens out of a journal are no spare, nor those of a grant that was renewed", arguments: StoreKind.allCases
    )
    func noSpare(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let id = try await store.keepConsent().id
        let first = Make.attempt()
        _ = try await store.saveTokens(Make.tokens(id, first))
        _ = try await store.saveTokens(Make.tokens(id, Make.attempt(), expecting: 2))
        #expect(try await store.saveTokens(Make.tokens(id, first)) == .generationMoved)
        #expect(try await store.consent(id)?.spare == nil)
        let code = try await store.keepGrant()
        #expect(try await store.renewConsent(Make.renewal(id, code: code, expecting: 3)) == .written)
        #expect(try await store.saveTokens(Make.tokens(id, Make.attempt(), expecting: 3)) == .generationMoved)
        #expect(try await store.consent(id)?.spare == nil)
    }

    @Test("what is newer than a row that came back from a copy is kept", arguments: StoreKind.allCases)
    func newerThanTheCopy(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let id = try await store.keepConsent().id
        #expect(try await store.saveTokens(Make.tokens(id, Make.attempt(), expecting: 5)) == .generationMoved)
        #expect(try await store.consent(id)?.spare?.generation == 6)
        _ = try await store.withdraw(Make.withdrawal(id, []))
        #expect(try await store.consent(id)?.spare == nil)
    }

    @Test("that another refresh token came once is remembered", arguments: StoreKind.allCases)
    func rotated(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let id = try await store.keepConsent().id
        #expect(try await store.consent(id)?.hasRotated == false)
        for (generation, hasRotated) in [(1, false), (2, true), (3, false)] as [(Int64, Bool)] {
            var write = Make.tokens(id, Make.attempt(), expecting: generation)
            write.hasRotated = hasRotated
            #expect(try await store.saveTokens(write) == .written)
            #expect(try await store.consent(id)?.hasRotated == (generation > 1))
        }
    }

    private func promotion(_ id: ConsentID, _ attempt: AttemptID) -> SparePromotion {
        SparePromotion(
            id: id, generation: 2, attempt: attempt, spareGeneration: 2, tokens: Make.sealed("promoted"), at: Make.now,
            event: Make.event(.spareTried))
    }
}
