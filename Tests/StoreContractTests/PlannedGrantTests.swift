// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import Testing

@Suite("Grants for whoever looks ahead, in any store", .places)
struct PlannedGrantTests {
    @Test("they come a page at a time, each once, the ended ones left out", arguments: StoreKind.allCases)
    func pages(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        var ids: [ConsentID] = []
        for _ in 0..<5 { ids.append(try await store.keepConsent().id) }
        let over = Make.attempt()
        #expect(try await store.claimRefresh(Make.claim(ids[2], over)) == .claimed)
        _ = try await store.settleRefresh(Make.settlement(ids[2], over, .over(.providerRejected)))
        let sent = Make.attempt()
        #expect(try await store.claimRefresh(Make.claim(ids[3], sent)) == .claimed)
        var found: [PlannedGrant] = []
        while true {
            let page = try await store.plannedGrants(after: found.last?.id, limit: 2)
            found += page
            if page.count < 2 { break }
        }
        #expect(found.map(\.id) == [ids[0], ids[1], ids[3], ids[4]].sorted())
        // While a refresh is on the wire, its time is the one before.
        #expect(found.allSatisfy { $0.timing == Make.timing() && !$0.isInDoubt && $0.status == .active })
        #expect(found[0].provider == Make.provider)
        _ = try await store.settleRefresh(Make.settlement(ids[3], sent, .unknown(dueAt: Make.now)))
        let doubtful = try await store.plannedGrants(after: nil, limit: 10).filter(\.isInDoubt)
        #expect(doubtful.map(\.id) == [ids[3]])
        #expect(doubtful.first?.status == .failing)
        #expect(doubtful.first?.timing.dueAt == Make.now)
    }

    @Test(
        "a claim on an operator's word holds for a grant that is over, and what fails leaves it so",
        arguments: StoreKind.allCases)
    func forced(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let id = try await store.keepConsent().id
        let over = Make.attempt()
        #expect(try await store.claimRefresh(Make.claim(id, over)) == .claimed)
        _ = try await store.settleRefresh(Make.settlement(id, over, .over(.providerRejected)))
        #expect(try await store.claimRefresh(Make.claim(id, Make.attempt())) == .ended)
        let attempt = Make.attempt()
        var claim = Make.claim(id, attempt)
        claim.isForced = true
        #expect(try await store.claimRefresh(claim) == .claimed)
        _ = try await store.settleRefresh(Make.settlement(id, attempt, .released))
        let kept = try #require(try await store.consent(id)?.record)
        #expect(kept.status == .reauthorizationRequired)
        #expect(kept.statusReason == .providerRejected)
        #expect(kept.timing.dueAt == nil)
        let other = Make.attempt()
        var again = Make.claim(id, other)
        again.isForced = true
        #expect(try await store.claimRefresh(again) == .claimed)
        #expect(try await store.saveTokens(Make.tokens(id, other)) == .written)
        #expect(try await store.consent(id)?.record.status == .active)
    }
}
