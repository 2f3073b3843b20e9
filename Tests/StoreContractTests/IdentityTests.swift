// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import Testing

@Suite("Refused identities in any store", .places)
struct IdentityTests {
    private static let rules = RetentionRules(
        records: .seconds(1), evidence: .seconds(1), reauthorizationRequired: .seconds(1),
        exchanges: .seconds(90 * 86_400))
    private static let day = Duration.seconds(86_400)

    @Test("a kept grant that is refused ends its code, and lies there for a day", arguments: StoreKind.allCases)
    func quarantine(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let subject = Make.index()
        for verdict in [CodeVerdict.idTokenInvalid, .sharedSubject] {
            let code = try await store.keepGrant(subject: subject)
            for _ in 0..<2 {
                #expect(
                    try await store.refuseGrant(code, as: verdict, statement: Make.sealed("why"), at: Make.now))
            }
            #expect(
                try await store.reserveCode(Make.reservation(code, subject: subject)).word
                    == "ended \(verdict.rawValue) why")
        }
        func emptied(after time: Duration) async throws -> Int {
            try await store.retain(.quarantine, IdentityTests.rules, at: Make.now.advanced(by: time), limit: 10)
        }
        #expect(try await emptied(after: IdentityTests.day - .seconds(1)) == 0)
        #expect(
            try await store.retentionTally(IdentityTests.rules, at: Make.now.advanced(by: IdentityTests.day))[
                .quarantine] == 2)
        #expect(try await emptied(after: IdentityTests.day) == 2)
        #expect(try await emptied(after: IdentityTests.day * 2) == 0)
    }

    @Test("what has become a consent, or was never kept, cannot be refused", arguments: StoreKind.allCases)
    func tooLate(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let made = try await store.keepConsent()
        #expect(try await !store.refuseGrant(made.code, as: .idTokenInvalid, statement: nil, at: Make.now))
        #expect(try await !store.refuseGrant(Make.index(), as: .idTokenInvalid, statement: nil, at: Make.now))
        #expect(try await store.consent(made.id)?.record.status == .active)
    }

    @Test(
        "of subjects that bring one person at once, to any instance, one has it", arguments: StoreKind.allCases)
    func sharedAtOnce(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let stores = [try place.open(), try place.open()]
        for _ in 0..<40 {
            let person = Make.index()
            let created = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<4 {
                    group.addTask {
                        try await IdentityTests.takes(person, isKnownLater: number >= 2, in: stores[number % 2])
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(created == 1)
        }
    }

    /// Whether another subject's consent gets that person.
    private static func takes(_ person: BlindIndex, isKnownLater: Bool, in store: SQLStore) async throws -> Bool {
        var consent = Make.consent(providerSubject: isKnownLater ? nil : person)
        consent.sharing = .refuse
        guard isKnownLater else {
            let code = try await store.keepGrant(subject: consent.subjectIndex)
            let answer = try await store.createConsent(consent, of: code, events: [Make.event()])
            #expect(answer == .created || answer == .sharedSubject)
            return answer == .created
        }
        let id = try await store.keepConsent(consent).id
        var write = Make.profile(id, providerSubject: person)
        write.sharing = .refuse
        let answer = try await store.saveProfile(write)
        #expect(answer == .saved || answer == .sharedSubject)
        return answer == .saved
    }

    @Test("another subject's person is told of, or refused, where that is looked for", arguments: StoreKind.allCases)
    func shared(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let person = Make.index()
        func create(_ rule: SharedSubjectRule?, _ subject: BlindIndex = Make.index()) async throws -> (
            CreateAnswer, ConsentID
        ) {
            var consent = Make.consent(subject: subject, providerSubject: person)
            consent.sharing = rule
            let code = try await store.keepGrant(subject: subject)
            return (
                try await store.createConsent(consent, of: code, events: [Make.event()]), consent.record.id
            )
        }
        let unwatched = Make.index()
        #expect(try await create(nil, unwatched).0 == .created)
        let first = Make.index()
        let (answer, id) = try await create(.refuse, first)
        #expect(answer == .created)
        #expect(try await create(.refuse).0 == .sharedSubject)
        let (warned, warnedID) = try await create(.warn)
        #expect(warned == .created)
        #expect(try await store.events(of: warnedID).map(\.draft.type) == [.created, .providerSubjectShared])
        // Its own record is renewed, whoever else has one by now.
        #expect(try await create(.refuse, first).0 == .liveExists(id))
        // One that is known later.
        var pending = Make.consent(providerSubject: nil)
        pending.sharing = .refuse
        let late = try await store.keepConsent(pending)
        var write = Make.profile(late.id, providerSubject: person)
        write.sharing = .refuse
        #expect(try await store.saveProfile(write) == .sharedSubject)
        write.sharing = .warn
        #expect(try await store.saveProfile(write) == .saved)
        #expect(try await store.events(of: late.id).map(\.draft.type).last == .providerSubjectShared)
    }

    @Test("a renewal without a profile leaves the one that is held", arguments: StoreKind.allCases)
    func renewal(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let made = try await store.keepConsent()
        let code = try await store.keepGrant()
        var renewal = Make.renewal(made.id, code: code, expecting: 1)
        renewal.profile = nil
        #expect(try await store.renewConsent(renewal) == .written)
        let found = try #require(try await store.consent(made.id))
        #expect(found.profile == Make.sealed("profile 1") && found.record.profileFetchedAt == Make.now)
        #expect(found.record.profileStatus == .current && found.record.generation == 2)
    }
}
