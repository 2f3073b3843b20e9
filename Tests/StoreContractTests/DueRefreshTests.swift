// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeSQLite
import Testing

@testable import ConsentStores

@Suite("Which grants are due, in any store", .places)
struct DueRefreshTests {
    private let acme = ProviderKey(name: "acme", environment: nil)
    /// After every `due_at` that `Make` gives.
    private let late = Make.now.advanced(by: .seconds(3600))

    /// A consent that is due after `due` seconds, and whose refresh token ends after `end`.
    private func consent(due: Int?, end: Int? = nil, provider: ProviderKey = Make.provider) -> StoredConsent {
        var consent = Make.consent(provider: provider)
        consent.record.timing.dueAt = due.map { Make.now.advanced(by: .seconds($0)) }
        consent.record.timing.refreshTokenExpiresAt = end.map { Make.now.advanced(by: .seconds($0)) }
        return consent
    }

    private func due(
        _ store: SQLStore, of provider: ProviderKey = Make.provider, idleLife: Duration? = nil, at now: Instant,
        limit: Int = 100
    ) async throws -> [ConsentID] {
        let policy = RefreshPolicy(
            kind: .keepFresh, interval: .seconds(86_400), reuse: .forbidden, idleLife: idleLife,
            defaultLifetime: .seconds(3600))
        return try await store.dueRefreshes(of: provider, policy: policy, at: now, limit: limit).map(\.id)
    }

    @Test("one provider's due grants come, those first whose refresh token ends soonest, then who waits longest")
    func order() async throws {
        let store = try StorePlace(.sqlite).open()
        let long = try await store.keepConsent(consent(due: 10, end: 90_000)).id
        let short = try await store.keepConsent(consent(due: 30, end: 8000)).id
        let plain = try await store.keepConsent(consent(due: 20)).id
        let first = try await store.keepConsent(consent(due: 5)).id
        _ = try await store.keepConsent(consent(due: nil, end: 7000))
        let later = try await store.keepConsent(consent(due: 5000, end: 6000)).id
        let other = try await store.keepConsent(consent(due: 1, provider: acme)).id
        #expect(try await due(store, at: late) == [short, long, first, plain])
        #expect(try await due(store, at: late, limit: 2) == [short, long])
        #expect(try await due(store, at: Make.now.advanced(by: .seconds(10))) == [long, first])
        #expect(try await due(store, of: acme, at: late) == [other])
        #expect(try await due(store, at: Make.now.advanced(by: .seconds(5000))).first == later)
        let live = ProviderKey(name: "paypal", environment: "live")
        #expect(try await due(store, of: live, at: late).isEmpty)
        #expect(try await store.nextDue(of: Make.provider) == Make.now.advanced(by: .seconds(5)))
        #expect(try await store.nextDue(of: ProviderKey(name: "none", environment: nil)) == nil)
    }

    @Test("a grant that a wrong clock has dated further ahead than any delay is due, and one with a long delay is not")
    func farAhead() async throws {
        let store = try StorePlace(.sqlite).open()
        let (day, year) = (86_400, 365 * 86_400)
        var wrong = consent(due: year)
        wrong.record.timing.issuedAt = Make.now.advanced(by: .seconds(year - 3600))
        wrong.record.timing.accessTokenExpiresAt = Make.now.advanced(by: .seconds(year + 3600))
        var long = consent(due: 60 * day, end: 120 * day)
        long.record.timing.issuedAt = Make.now
        let found = try await store.keepConsent(wrong).id
        let trusted = try await store.keepConsent(long).id
        #expect(try await due(store, at: late) == [found])
        #expect(try await due(store, at: late, limit: 0).isEmpty)
        let one = try #require(
            try await store.dueRefreshes(of: Make.provider, policy: Make.policy, at: late, limit: 9).first)
        try await store.postpone(one, until: late.advanced(by: .seconds(60)), at: late)
        #expect(try await due(store, at: late).isEmpty)
        #expect(try await due(store, at: late.advanced(by: .seconds(60))) == [found])
        #expect(try await store.consent(trusted)?.record.timing.dueAt == Make.now.advanced(by: .seconds(60 * day)))
    }

    @Test("a grant whose token ends soon goes first, however many others have waited for longer")
    func starved() async throws {
        let store = try StorePlace(.sqlite).open()
        for _ in 0..<40 { _ = try await store.keepConsent(consent(due: 10)) }
        let short = try await store.keepConsent(consent(due: 3000, end: 6000)).id
        #expect(try await due(store, at: late, limit: 5).first == short)
    }

    @Test("due grants come in the same order with what their refresh has to know, and without those under way")
    func grants() async throws {
        let store = try StorePlace(.sqlite).open()
        let plain = try await store.keepConsent(consent(due: 20)).id
        let ending = try await store.keepConsent(consent(due: 30, end: 8000)).id
        let first = try await store.keepConsent(consent(due: 5)).id
        func due(besides underWay: Set<ConsentID>, behind skipped: Int = 0, limit: Int) async throws
            -> [RefreshableGrant]
        {
            try await store.dueGrants(
                of: Make.provider, policy: Make.policy, besides: underWay, behind: skipped, at: late, limit: limit)
        }
        let all = try await due(besides: [], limit: 100)
        #expect(all.map(\.id) == [ending, first, plain])
        #expect(try await due(besides: [ending, first], limit: 1).map(\.id) == [plain])
        #expect(try await due(besides: [], behind: 1, limit: 100).map(\.id) == [ending, plain])
        #expect(try await due(besides: [ending], behind: 3, limit: 100).isEmpty)
        for grant in all {
            let stored = try #require(try await store.consent(grant.id))
            let record = stored.record
            #expect(grant.provider == record.provider && grant.issuer == record.issuer)
            #expect(grant.status == record.status && grant.generation == record.generation)
            #expect(grant.timing == record.timing && grant.isRefreshable && grant.refreshFailures == 0)
            #expect(grant.granted == record.granted && grant.profileStatus == record.profileStatus)
            #expect(grant.profileFetchedAt == record.profileFetchedAt && grant.attempt == nil)
            #expect(grant.envelopes.key == stored.key && grant.envelopes.tokens == stored.tokens)
        }
    }

    @Test("one grant is read by its name, with the sending in doubt that stands on it")
    func oneGrant() async throws {
        let store = try StorePlace(.sqlite).open()
        let (id, attempt) = (try await store.keepConsent(consent(due: 20)).id, Make.attempt())
        _ = try await store.claimRefresh(Make.claim(id, attempt))
        _ = try await store.settleRefresh(Make.settlement(id, attempt, .unknown(dueAt: late)))
        let grant = try #require(try await store.refreshableGrant(id))
        #expect(grant.attempt?.id == attempt && grant.attempt?.phase == .unknown)
        #expect(grant.status == .failing && grant.refreshFailures == 1 && grant.timing.dueAt == late)
        #expect(try await store.refreshableGrant(ConsentID(Make.uuid())) == nil)
    }

    @Test("a claim of what is due holds while it is due, and no longer")
    func claimOfDue() async throws {
        let store = try StorePlace(.sqlite).open()
        let id = try await store.keepConsent(consent(due: 10)).id
        var claim = Make.claim(id, Make.attempt(), at: Make.now)
        claim.isOfDue = true
        #expect(try await store.claimRefresh(claim) == .notDue)
        claim.at = Make.now.advanced(by: .seconds(10))
        #expect(try await store.claimRefresh(claim) == .claimed)
        var other = Make.claim(id, Make.attempt(), at: late)
        other.isOfDue = true
        #expect(try await store.claimRefresh(other) == .held)
        #expect(
            try await store.settleRefresh(Make.settlement(id, claim.attempt, .failing(dueAt: late))) == .written)
        other.at = Make.now.advanced(by: .seconds(20))
        #expect(try await store.claimRefresh(other) == .notDue)
        other.isOfDue = false
        #expect(try await store.claimRefresh(other) == .claimed)
    }

    @Test("a claimed grant is not due until its lease ends, a withdrawn one never")
    func claimed() async throws {
        let store = try StorePlace(.sqlite).open()
        let id = try await store.keepConsent(consent(due: 10)).id
        let withdrawn = try await store.keepConsent(consent(due: 10)).id
        #expect(try await store.withdraw(Make.withdrawal(withdrawn, expecting: 1, [])) == .withdrawn)
        #expect(try await store.claimRefresh(Make.claim(id, Make.attempt(), at: late)) == .claimed)
        #expect(try await due(store, at: late).isEmpty)
        #expect(try await due(store, at: late.advanced(by: .seconds(120))) == [id])
    }

    @Test("a due grant is put off, unless it is another by now or somebody's")
    func postponed() async throws {
        let store = try StorePlace(.sqlite).open()
        let id = try await store.keepConsent(consent(due: 10)).id
        let found = try #require(
            try await store.dueRefreshes(of: Make.provider, policy: Make.policy, at: late, limit: 1).first)
        #expect(found == DueRefresh(id: id, generation: 1, dueAt: Make.now.advanced(by: .seconds(10)), endsAt: nil))
        var stale = found
        stale.generation = 2
        try await store.postpone(stale, until: late.advanced(by: .seconds(60)), at: late)
        #expect(try await due(store, at: late) == [id])
        try await store.postpone(found, until: late.advanced(by: .seconds(60)), at: late)
        #expect(try await due(store, at: late).isEmpty)
        #expect(try await store.nextDue(of: Make.provider) == late.advanced(by: .seconds(60)))
        // It is not due: its own time stays.
        try await store.postpone(found, until: late.advanced(by: .seconds(999)), at: late)
        #expect(try await store.nextDue(of: Make.provider) == late.advanced(by: .seconds(60)))
    }

    @Test("who watches is told how much is due, since when, and how much is in doubt")
    func tally() async throws {
        let store = try StorePlace(.sqlite).open()
        for seconds in [0, 10, 3590] { _ = try await store.keepConsent(consent(due: seconds)) }
        let (id, attempt) = (try await store.keepConsent(consent(due: 5)).id, Make.attempt())
        _ = try await store.claimRefresh(Make.claim(id, attempt))
        _ = try await store.settleRefresh(Make.settlement(id, attempt, .unknown(dueAt: nil)))
        #expect(
            try await store.dueTally(of: Make.provider, at: late)
                == DueTally(due: 3, overdue: 2, oldest: Make.now, ambiguous: 1))
        #expect(
            try await store.dueTally(of: acme, at: late) == DueTally(due: 0, overdue: 0, oldest: nil, ambiguous: 0))
    }

    @Test("a pending profile waits for its next try, and of two who take it one gets it")
    func pendingProfiles() async throws {
        let store = try StorePlace(.sqlite).open()
        let id = try await store.keepConsent(Make.consent(providerSubject: nil)).id
        _ = try await store.keepConsent()
        let found = try await store.pendingProfiles(of: Make.provider, at: late, limit: 10)
        #expect(found == [PendingProfile(id: id, tries: 0)])
        let next = late.advanced(by: .seconds(30))
        #expect(try await store.claimProfile(found[0], again: next, at: late))
        #expect(try await !store.claimProfile(found[0], again: next, at: late))
        #expect(try await store.pendingProfiles(of: Make.provider, at: late, limit: 10).isEmpty)
        #expect(
            try await store.pendingProfiles(of: Make.provider, at: next, limit: 10)
                == [PendingProfile(id: id, tries: 1)])
        #expect(try await store.pendingProfiles(of: acme, at: next, limit: 10).isEmpty)
    }

    @Test("what is due is found along the index of providers and times, and sorted by nothing")
    func plan() throws {
        let place = try StorePlace(.sqlite)
        _ = try place.open()
        let connection = try SQLiteConnection(path: place.path, access: .readOnly, busyTimeout: 1000)
        func plan(_ query: SQLQuery) throws -> [String] {
            let rows = try connection.prepare(SQLiteQuery("EXPLAIN QUERY PLAN \(query.sqlite.text)"))
            var lines: [String] = []
            while try rows.step() {
                _ = (rows.integer(), rows.integer(), rows.integer())
                lines.append(rows.text())
            }
            return lines
        }
        #expect(
            try plan(DueQueries.due)
                == ["SEARCH consents USING INDEX consents_by_due (provider=? AND due_at>? AND due_at<?)"])
        #expect(
            try plan(DueQueries.dueGrants)
                == ["SEARCH consents USING INDEX consents_by_due (provider=? AND due_at>? AND due_at<?)"])
        #expect(
            try plan(DueQueries.ending) == [
                "CO-ROUTINE ending",
                "SEARCH consents USING INDEX consents_by_token_end (provider=? AND refresh_token_expires_at>?)",
                "SCAN ending",
            ])
        #expect(
            try plan(DueQueries.next)
                == ["SEARCH consents USING COVERING INDEX consents_by_due (provider=? AND due_at>?)"])
        #expect(
            try plan(DueQueries.tally).contains(
                "SEARCH consents USING COVERING INDEX consents_by_due (provider=? AND due_at>? AND due_at<?)"))
        for query in [RetentionQueries.ended, RetentionQueries.erased, RetentionQueries.endedCodes] {
            #expect(try plan(query).allSatisfy { $0.hasPrefix("SEARCH") })
        }
    }

    @Test("new tokens of an active grant write no index that is in the order of a digest")
    func indexes() throws {
        let place = try StorePlace(.sqlite)
        _ = try place.open()
        let connection = try SQLiteConnection(path: place.path, access: .readWrite, busyTimeout: 1000)
        func written(by query: SQLQuery) throws -> Set<String> {
            let names = try connection.prepare(SQLiteQuery("SELECT rootpage, name FROM sqlite_schema"))
            var roots: [Int64: String] = [:]
            while try names.step() { roots[names.integer()] = names.text() }
            let rows = try connection.prepare(SQLiteQuery("EXPLAIN \(query.sqlite.text)"))
            var found: Set<String> = []
            while try rows.step() {
                _ = rows.integer()
                let (operation, _, root) = (rows.text(), rows.integer(), rows.integer())
                if operation == "OpenWrite" { found.insert(roots[root] ?? "?") }
            }
            return found
        }
        for query in [RefreshQueries.claim, RefreshQueries.save] {
            let found = try written(by: query)
            #expect(found.isSuperset(of: ["consents", "consents_by_due"]))
            #expect(found.isDisjoint(with: ["consents_by_subject", "consents_by_provider"]))
        }
        #expect(try written(by: RefreshQueries.heal).contains("consents_by_subject"))
    }
}
