// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import NativeSQLite
import Testing

@Suite("Withdrawals in any store", .places)
struct WithdrawalTests {
    @Test("a withdrawal closes the grant, keeps the record and fills the outbox", arguments: StoreKind.allCases)
    func withdraws(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let id = try await store.keepConsent().id
        let withdrawal = Make.withdrawal(id, reason: .operator, Make.deliveries(of: id))
        #expect(try await store.withdraw(withdrawal) == .withdrawn)
        let found = try #require(try await store.consent(id))
        #expect(found.record.status == .revoked && found.record.statusReason == .operator)
        #expect(!found.record.isRefreshable && found.record.timing.dueAt == nil)
        #expect(found.record.updatedAt == withdrawal.at && found.record.generation == 1)
        #expect(found.tokens == nil && found.profile == nil && found.attempt == nil)
        #expect(found.key?.text == "key" && found.subject?.text == "subject" && found.providerSubject?.text == "sub")
        #expect(try await store.events(of: id).map(\.draft.type) == [.created, .revoked])
        let tasks = try await store.claimRevocations(limit: 10, lease: .seconds(120), at: withdrawal.at)
        let task = try #require(tasks.first)
        #expect(tasks.count == 1 && task.tries == 0 && task.draft.id == withdrawal.revocations[0].id)
        #expect(task.draft.kind == .refreshToken && task.draft.reason == .withdrawal && task.draft.consent == id)
        #expect(task.draft.provider == Make.provider && task.draft.clientID == "client")
        #expect(task.draft.token.text == "token")
    }

    @Test("a refresh on the wire finds its consent ended and stores nothing", arguments: StoreKind.allCases)
    func duringRefresh(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let (refreshing, store) = (try place.open(), try place.open())
        let made = try await store.keepConsent()
        let (id, attempt) = (made.id, Make.attempt())
        #expect(try await refreshing.claimRefresh(Make.claim(id, attempt)) == .claimed)
        #expect(try await store.withdraw(Make.withdrawal(id, [])) == .withdrawn)
        let after = try #require(try await store.consent(id)).text
        #expect(try await refreshing.saveTokens(Make.tokens(id, attempt)) == .ended)
        for change in [RefreshSettlement.Change.failing(dueAt: Make.now), .over(.providerRejected), .released] {
            #expect(try await refreshing.settleRefresh(Make.settlement(id, attempt, change)) == .ended)
        }
        #expect(try await store.saveProfile(Make.profile(id, providerSubject: nil)) == .ended)
        #expect(try await store.claimRefresh(Make.claim(id, Make.attempt())) == .ended)
        #expect(try await store.expire(id, generation: 1, at: Make.now, event: Make.event(.expired)) == .ended)
        let code = try await store.keepGrant()
        #expect(try await store.renewConsent(Make.renewal(id, code: code, expecting: 1)) == .ended)
        #expect(try await store.consent(id)?.text == after)
        place.kill(refreshing)
        #expect(try await store.adoptAbandoned(limit: 10, policies: [:], at: Make.now).refreshesNamedUnknown == 0)
        #expect(try await store.consent(id)?.text == after)
        #expect(try await store.events(of: id).map(\.draft.type) == [.created, .revoked])
    }

    @Test("a consent is withdrawn once, by whoever comes first", arguments: StoreKind.allCases)
    func once(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let stores = [try place.open(), try place.open()]
        let id = try await stores[0].keepConsent().id
        let answers = try await withThrowingTaskGroup(of: WithdrawAnswer.self) { group in
            for number in 0..<20 {
                let store = stores[number % 2]
                group.addTask { try await store.withdraw(Make.withdrawal(id, Make.deliveries(of: id))) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count { $0 == .withdrawn } == 1)
        #expect(answers.count { $0 == .alreadyRevoked } == 19)
        #expect(try await stores[0].events(of: id).count == 2)
        #expect(try await stores[1].drain() == [.refreshToken, .accessToken])
    }

    @Test("tokens that moved are read again, and what is not there or gave way says so", arguments: StoreKind.allCases)
    func refused(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let (subject, person) = (Make.index(), Make.index())
        let older = try await store.keepConsent(Make.consent(subject: subject, providerSubject: person)).id
        #expect(try await store.saveTokens(Make.tokens(older, Make.attempt())) == .written)
        let stale = Make.withdrawal(older, expecting: 1, Make.deliveries(of: older))
        #expect(try await store.withdraw(stale) == .generationMoved)
        #expect(try await store.consent(older)?.tokens?.text == "tokens 2")
        let newer = try await store.keepConsent(
            Make.consent(subject: subject, providerSubject: nil, at: Make.now.advanced(by: .seconds(1)))
        ).id
        #expect(try await store.saveProfile(Make.profile(newer, providerSubject: person)) == .superseded(older))
        #expect(try await store.withdraw(Make.withdrawal(older, expecting: 2, [])) == .superseded)
        #expect(try await store.withdraw(Make.withdrawal(ConsentID(Make.uuid()), [])) == .absent)
        #expect(try await store.drain().isEmpty)
        #expect(try await store.events(of: older).last?.draft.type == .superseded)
    }

    @Test("a grant that fails, is over or has lapsed can be withdrawn as well", arguments: StoreKind.allCases)
    func everyStatus(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        for change in [
            RefreshSettlement.Change.failing(dueAt: Make.now), .unknown(dueAt: nil), .over(.providerRejected), nil,
        ] {
            let id = try await store.keepConsent().id
            if let change {
                let attempt = Make.attempt()
                _ = try await store.claimRefresh(Make.claim(id, attempt))
                #expect(try await store.settleRefresh(Make.settlement(id, attempt, change)) == .written)
            } else {
                _ = try await store.expire(id, generation: 1, at: Make.now, event: Make.event(.expired))
            }
            #expect(try await store.withdraw(Make.withdrawal(id, [])) == .withdrawn)
            let found = try #require(try await store.consent(id))
            #expect(found.record.status == .revoked && found.record.statusReason == .user)
            #expect(found.tokens == nil && found.profile == nil && found.attempt == nil)
        }
    }

    @Test("a withdrawal whose outbox cannot be written changes nothing", arguments: ["revocation_outbox", "events"])
    func wholeOrNot(table: String) async throws {
        let place = try StorePlace(.sqlite)
        let store = try place.open()
        let id = try await store.keepConsent().id
        let before = try #require(try await store.consent(id)).text
        let other = try place.connection()
        try other.execute("CREATE TRIGGER stop BEFORE INSERT ON \(table) BEGIN SELECT RAISE(ABORT, 'stop'); END")
        await #expect(throws: StoreFailure.self) {
            try await store.withdraw(Make.withdrawal(id, Make.deliveries(of: id)))
        }
        #expect(try await store.consent(id)?.text == before)
        try other.execute("DROP TRIGGER stop")
        #expect(try await store.drain().isEmpty)
        #expect(try await store.events(of: id).count == 1)
        #expect(try await store.withdraw(Make.withdrawal(id, Make.deliveries(of: id))) == .withdrawn)
        #expect(try await store.drain() == [.refreshToken, .accessToken])
    }
}

extension ConsentStore {
    /// Delivers all that is due, and tells the kinds in the order of delivery.
    func drain(at now: Instant = Make.now.advanced(by: .seconds(100_000))) async throws -> [TokenKind] {
        var kinds: [TokenKind] = []
        while true {
            let tasks = try await claimRevocations(limit: 10, lease: .seconds(120), at: now)
            if tasks.isEmpty { return kinds }
            for task in tasks {
                kinds.append(task.draft.kind)
                try await settleRevocation(Make.settlement(task, .revoked))
            }
        }
    }
}
