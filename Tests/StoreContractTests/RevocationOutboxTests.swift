// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import NativeSQLite
import Testing

@Suite("The revocation outbox of any store", .places)
struct RevocationOutboxTests {
    private let lease = Duration.seconds(120)

    @Test("of one consent the next delivery waits until the one before is over", arguments: StoreKind.allCases)
    func order(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let ids = [try await store.keepConsent().id, try await store.keepConsent().id]
        for id in ids { try await store.queueRevocations(Make.deliveries(of: id).reversed(), at: Make.now) }
        for outcome in [RevocationSettlement.Outcome.revoked, .failed] {
            let tasks = try await claim(store)
            #expect(Set(tasks.map(\.draft.consent)) == Set(ids) && tasks.count == 2)
            #expect(Set(tasks.map(\.draft.kind)).count == 1)
            #expect(tasks[0].draft.kind == (outcome == .revoked ? .refreshToken : .accessToken))
            #expect(try await claim(store).isEmpty)
            for task in tasks { try await store.settleRevocation(Make.settlement(task, outcome)) }
        }
        #expect(try await claim(store).isEmpty)
        for id in ids {
            let events = try await store.events(of: id)
            #expect(events.map(\.draft.type) == [.created, .tokenRevocation, .tokenRevocation])
            #expect(events.last?.draft.data == ["token": .text("access_token")])
        }
    }

    @Test("what is tried again holds its consent's next one back", arguments: StoreKind.allCases)
    func again(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let id = try await store.keepConsent().id
        try await store.queueRevocations(Make.deliveries(of: id), at: Make.now)
        let due = Make.now.advanced(by: .seconds(60))
        for tries in 0..<3 {
            let task = try #require(try await claim(store, at: due.advanced(by: .seconds(60 * tries))).first)
            #expect(task.tries == tries && task.draft.kind == .refreshToken && task.draft.token.text == "token")
            let next = due.advanced(by: .seconds(60 * (tries + 1)))
            try await store.settleRevocation(Make.settlement(task, .again(at: next)))
            #expect(try await claim(store, at: next.advanced(by: .milliseconds(-1))).isEmpty)
        }
        #expect(try await store.drain() == [.refreshToken, .accessToken])
    }

    @Test("one of many takes a delivery, oldest first", arguments: StoreKind.allCases)
    func claims(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let stores = [try place.open(), try place.open()]
        var ids: [UUIDv7] = []
        for number in 0..<60 {
            let now = Make.now.advanced(by: .seconds(number))
            let draft = Make.delivery(of: ConsentID(Make.uuid()), id: Make.uuid(at: now))
            ids.append(draft.id)
            try await stores[number % 2].queueRevocations([draft], at: now)
        }
        let end = Make.now.advanced(by: .seconds(60))
        let first = try await stores[0].claimRevocations(limit: 7, lease: lease, at: end)
        #expect(first.map(\.draft.id) == Array(ids.prefix(7)))
        #expect(try await stores[0].claimRevocations(limit: 0, lease: lease, at: end).isEmpty)
        let rest = try await withThrowingTaskGroup(of: [RevocationTask].self) { group in
            for number in 0..<10 {
                let store = stores[number % 2]
                group.addTask { try await store.claimRevocations(limit: 7, lease: .seconds(120), at: end) }
            }
            return try await group.reduce(into: []) { $0 += $1.map(\.draft.id) }
        }
        #expect(rest.count == 53 && Set(rest) == Set(ids.dropFirst(7)))
    }

    @Test(
        "a delivery whose lease is over is taken by another, and then only that one settles it",
        arguments: StoreKind.allCases)
    func leaseIsOver(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let (slow, store) = (try place.open(), try place.open())
        let id = try await store.keepConsent().id
        try await store.queueRevocations([Make.delivery(of: id)], at: Make.now)
        let task = try #require(try await slow.claimRevocations(limit: 1, lease: .zero, at: Make.now).first)
        let taken = try #require(try await claim(store).first)
        #expect(taken.draft.id == task.draft.id && taken.tries == 1)
        for outcome in [RevocationSettlement.Outcome.revoked, .again(at: Make.now)] {
            try await slow.settleRevocation(Make.settlement(task, outcome))
        }
        #expect(try await store.events(of: id).count == 1)
        #expect(try await claim(slow).isEmpty)
        for _ in 0..<2 { try await store.settleRevocation(Make.settlement(taken, .revoked)) }
        #expect(try await store.events(of: id).map(\.draft.type) == [.created, .tokenRevocation])
        #expect(try await claim(slow).isEmpty)
    }

    @Test("a lease that is over and that nobody took is still settled by its owner", arguments: StoreKind.allCases)
    func late(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let id = try await store.keepConsent().id
        try await store.queueRevocations([Make.delivery(of: id)], at: Make.now)
        let task = try #require(try await store.claimRevocations(limit: 1, lease: .zero, at: Make.now).first)
        try await store.settleRevocation(Make.settlement(task, .revoked))
        #expect(try await store.events(of: id).count == 2)
        #expect(try await store.drain().isEmpty)
    }

    @Test("a dead instance's deliveries come back at once", arguments: StoreKind.allCases)
    func deadOwner(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let (dying, store) = (try place.open(), try place.open())
        let id = try await store.keepConsent().id
        try await store.queueRevocations(Make.deliveries(of: id), at: Make.now)
        #expect(try await claim(dying).count == 1)
        #expect(try await claim(store).isEmpty)
        place.kill(dying)
        let task = try #require(try await claim(store).first)
        #expect(task.draft.kind == .refreshToken && task.tries == 1)
        try await store.settleRevocation(Make.settlement(task, .unsupported))
        #expect(try await store.drain() == [.accessToken])
    }

    @Test("a draft is queued once, and one without a consent waits for no other", arguments: StoreKind.allCases)
    func queued(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let drafts = [
            Make.delivery(of: nil, .refreshToken, reason: .unconfirmed),
            Make.delivery(of: nil, .accessToken, reason: .erasure),
        ]
        for _ in 0..<2 { try await store.queueRevocations(drafts, at: Make.now) }
        let tasks = try await claim(store)
        #expect(Set(tasks.map(\.draft.id)) == Set(drafts.map(\.id)) && tasks.count == 2)
        #expect(Set(tasks.map(\.draft.reason)) == [.unconfirmed, .erasure])
        for task in tasks { try await store.settleRevocation(Make.settlement(task, .revoked)) }
        // Queued again by somebody who did not hear of it: it stays over.
        try await store.queueRevocations(drafts, at: Make.now)
        #expect(try await claim(store).isEmpty)
    }

    @Test(
        "another consent of the same person that lives holds a delivery back, and its withdrawal lets it go",
        arguments: StoreKind.allCases)
    func held(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let person = Make.index()
        let ids = [try await keepWatched(store, person), try await keepWatched(store, person)]
        #expect(try await store.withdraw(Make.withdrawal(ids[0], Make.deliveries(of: ids[0]))) == .withdrawn)
        let now = Make.now.advanced(by: .seconds(700))
        for hour in 0..<3 {
            let moment = now.advanced(by: .seconds(3600 * hour))
            let task = try #require(try await claim(store, at: moment).first)
            #expect(task.tries == 0 && task.draft.kind == .refreshToken)
            #expect(try await store.wouldEndAnother(task.draft.id))
            let next = moment.advanced(by: .seconds(3600))
            try await store.settleRevocation(Make.settlement(task, .held(until: next), at: moment))
            #expect(try await claim(store, at: next.advanced(by: .milliseconds(-1))).isEmpty)
        }
        #expect(try await store.events(of: ids[0]).map(\.draft.type) == [.created, .revoked, .tokenRevocation])
        #expect(try await store.withdraw(Make.withdrawal(ids[1], Make.deliveries(of: ids[1]))) == .withdrawn)
        let tasks = try await claim(store, at: now)
        #expect(Set(tasks.map(\.draft.consent)) == Set(ids))
        for task in tasks {
            #expect(try await !store.wouldEndAnother(task.draft.id))
            try await store.settleRevocation(Make.settlement(task, .revoked))
        }
        #expect(try await store.events(of: ids[0]).count == 4)
    }

    @Test("another person's consent, one that has ended and one whose person is not looked for hold nothing back")
    func others() async throws {
        let store = try StorePlace(.sqlite).open()
        let person = Make.index()
        let id = try await keepWatched(store, person)
        _ = try await keepWatched(store, Make.index())
        _ = try await store.keepConsent(Make.consent(providerSubject: person))
        let ended = try await keepWatched(store, person)
        for id in [id, ended] { #expect(try await store.withdraw(Make.withdrawal(id, [])) == .withdrawn) }
        try await store.queueRevocations([Make.delivery(of: id), Make.delivery(of: nil)], at: Make.now)
        let tasks = try await claim(store)
        #expect(tasks.count == 2)
        for task in tasks { #expect(try await !store.wouldEndAnother(task.draft.id)) }
    }

    /// A consent whose person is looked for.
    private func keepWatched(_ store: any ConsentStore, _ person: BlindIndex) async throws -> ConsentID {
        var consent = Make.consent(providerSubject: person)
        consent.sharing = .warn
        return try await store.keepConsent(consent).id
    }

    @Test(
        "a delivery that is over keeps no token",
        arguments: [RevocationSettlement.Outcome.revoked, .unsupported, .failed])
    func destroyed(outcome: RevocationSettlement.Outcome) async throws {
        let place = try StorePlace(.sqlite)
        let store = try place.open()
        try await store.queueRevocations([Make.delivery(of: nil)], at: Make.now)
        let task = try #require(try await claim(store).first)
        try await store.settleRevocation(Make.settlement(task, outcome))
        let row = try place.connection().prepare(
            SQLiteQuery("SELECT token_sealed IS NULL, state, outcome FROM revocation_outbox"))
        try row.bind()
        #expect(try row.step())
        #expect(row.integer() == 1)
        #expect(row.text() == (outcome == .failed ? "dead" : "done") && row.text() == "\(outcome)")
    }

    private func claim(_ store: any ConsentStore, at now: Instant = Make.now) async throws -> [RevocationTask] {
        try await store.claimRevocations(limit: 100, lease: lease, at: now)
    }
}
