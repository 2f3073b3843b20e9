// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import NativePostgres
import TestServers
import Testing

@Suite("Instances that refresh side by side", .places)
struct SideBySideTests {
    private func claimOfDue(_ id: ConsentID, _ attempt: AttemptID) -> RefreshClaim {
        var claim = Make.claim(id, attempt, at: late)
        claim.isOfDue = true
        return claim
    }

    private var late: Instant { Make.now.advanced(by: .seconds(86_400)) }

    /// Refreshes what is due, a page at a time, until a page has nothing that this instance may have.
    /// - Returns: what it has claimed, in order.
    private func drain(_ store: SQLStore) async throws -> [ConsentID] {
        var claimed: [ConsentID] = []
        while true {
            let page = try await store.dueGrants(
                of: Make.provider, policy: Make.policy, besides: [], behind: 0, at: late, limit: 10)
            if page.isEmpty { return claimed }
            for grant in page {
                let attempt = Make.attempt()
                guard try await store.claimRefresh(claimOfDue(grant.id, attempt)) == .claimed else { continue }
                claimed.append(grant.id)
                var write = Make.tokens(grant.id, attempt)
                write.timing.dueAt = late.advanced(by: .seconds(3600))
                write.foundChain = grant.chain
                #expect(try await store.saveTokens(write) == .written)
            }
        }
    }

    @Test("two of them refresh each due grant once", arguments: StoreKind.allCases)
    func drainTogether(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let (first, second) = (try place.open(), try place.open())
        var ids: Set<ConsentID> = []
        for _ in 0..<60 { ids.insert(try await first.keepConsent().id) }
        async let ofFirst = drain(first)
        async let ofSecond = drain(second)
        let claimed = try await ofFirst + ofSecond
        #expect(claimed.count == 60 && Set(claimed) == ids)
        for id in ids {
            let found = try #require(try await first.refreshableGrant(id))
            #expect(found.generation == 2 && found.attempt == nil && found.chain.count == 2)
        }
    }

    @Test(
        "a due grant whose row another has in hand is passed over, and waited for where somebody asks for it",
        .enabled(if: PostgresDatabase.hasServer, "no server for tests: `bash Tests/run.sh` starts one"))
    func passedOver() async throws {
        let place = try StorePlace(.postgres)
        let store = try place.open()
        let (busy, free) = (try await store.keepConsent().id, try await store.keepConsent().id)
        let other = try #require(place.database).connection()
        try other.execute("BEGIN")
        try other.execute("SELECT 1 FROM consents WHERE id = '\\x\(Hexadecimal.text(of: busy.uuid.bytes))' FOR UPDATE")
        #expect(try await store.claimRefresh(claimOfDue(busy, Make.attempt())) == .held)
        let due = DueRefresh(
            try #require(try await store.refreshableGrant(busy)), idleLife: nil, at: late)
        try await store.postpone(due, until: late.advanced(by: .seconds(5)), at: late)
        #expect(try await store.claimRefresh(claimOfDue(free, Make.attempt())) == .claimed)
        async let asked = store.claimRefresh(Make.claim(busy, Make.attempt()))
        try other.execute("ROLLBACK")
        #expect(try await asked == .claimed)
        #expect(try await store.refreshableGrant(busy)?.timing.dueAt == due.dueAt)
    }
}
