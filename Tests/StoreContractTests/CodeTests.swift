// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import Testing

@Suite("Codes in any store", .places)
struct CodeTests {
    @Test("of twenty tasks that reserve one code, one may send it", arguments: StoreKind.allCases)
    func oneWinner(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let stores = [try place.open(), try place.open()]
        let (digest, subject) = (Make.index(), Make.index())
        let answers = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<20 {
                let store = stores[number % 2]
                group.addTask { try await store.reserveCode(Make.reservation(digest, subject: subject)).word }
            }
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(answers == ["reserved": 1, "underWay": 19])
    }

    @Test("of two subjects that race for one code, one gets it and the other is told", arguments: StoreKind.allCases)
    func twoSubjects(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let digest = Make.index()
        async let first = store.reserveCode(Make.reservation(digest)).word
        async let second = store.reserveCode(Make.reservation(digest)).word
        #expect(Set([try await first, try await second]) == ["reserved", "otherSubject nil"])
    }

    @Test("another subject is told whose consent a code became", arguments: StoreKind.allCases)
    func otherSubject(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let made = try await store.keepConsent()
        let answer = try await store.reserveCode(Make.reservation(made.code))
        #expect(answer.word == "otherSubject \(made.id)")
    }

    @Test("the same attempt may ask twice, and keep its grant twice", arguments: StoreKind.allCases)
    func idempotent(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let reservation = Make.reservation()
        for _ in 0..<2 { #expect(try await store.reserveCode(reservation).word == "reserved") }
        for _ in 0..<2 {
            #expect(
                try await store.keepGrant(
                    reservation.digest, attempt: reservation.attempt, grant: Make.sealed("grant"), at: Make.now))
        }
        #expect(
            try await !store.keepGrant(
                reservation.digest, attempt: Make.attempt(), grant: Make.sealed("other"), at: Make.now))
    }

    @Test("a released code is sent again, by its subject alone", arguments: StoreKind.allCases)
    func released(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let reservation = Make.reservation()
        _ = try await store.reserveCode(reservation)
        try await store.releaseCode(reservation.digest, attempt: Make.attempt(), at: Make.now)
        let again = Make.reservation(reservation.digest, subject: reservation.subjectIndex)
        #expect(try await store.reserveCode(again).word == "underWay")
        try await store.releaseCode(reservation.digest, attempt: reservation.attempt, at: Make.now)
        #expect(try await store.reserveCode(Make.reservation(reservation.digest)).word == "otherSubject nil")
        #expect(try await store.reserveCode(again).word == "reserved")
    }

    @Test("an ended code answers the same verdict and statement", arguments: StoreKind.allCases)
    func ended(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        for verdict in CodeVerdict.allCases {
            let reservation = Make.reservation()
            _ = try await store.reserveCode(reservation)
            try await store.endCode(
                reservation.digest, attempt: reservation.attempt, as: verdict, statement: Make.sealed("said"),
                at: Make.now)
            for _ in 0..<2 {
                let again = Make.reservation(reservation.digest, subject: reservation.subjectIndex)
                #expect(try await store.reserveCode(again).word == "ended \(verdict.rawValue) said")
            }
        }
    }

    @Test(
        "a dead instance's code is unknown, its late success still kept, and handed to the keeper's next flight",
        arguments: StoreKind.allCases)
    func deadSender(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let (dying, store) = (try place.open(), try place.open())
        let reservation = Make.reservation()
        _ = try await dying.reserveCode(reservation)
        let again = Make.reservation(reservation.digest, subject: reservation.subjectIndex)
        #expect(try await store.reserveCode(again).word == "underWay")
        place.kill(dying)
        #expect(try await store.reserveCode(again).word == "ended exchange_unknown -")
        #expect(
            try await store.keepGrant(
                reservation.digest, attempt: reservation.attempt, grant: Make.sealed("grant"), at: Make.now))
        #expect(try await store.reserveCode(again).word == "abandonedGrant grant")
        let third = try place.open()
        #expect(try await third.reserveCode(again).word == "underWay")
    }

    @Test("a lease that is over ends a sending too, though its owner lives", arguments: StoreKind.allCases)
    func leaseOver(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let (stopped, store) = (try place.open(), try place.open())
        let reservation = Make.reservation(lease: .zero)
        _ = try await stopped.reserveCode(reservation)
        let again = Make.reservation(reservation.digest, subject: reservation.subjectIndex)
        #expect(try await store.reserveCode(again).word == "ended exchange_unknown -")
    }

    @Test("a grant kept by a dead instance is handed to one caller", arguments: StoreKind.allCases)
    func abandonedGrant(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let (dying, store, third) = (try place.open(), try place.open(), try place.open())
        let subject = Make.index()
        let code = try await dying.keepGrant(subject: subject)
        let again = Make.reservation(code, subject: subject)
        #expect(try await store.reserveCode(again).word == "underWay")
        place.kill(dying)
        #expect(try await store.reserveCode(again).word == "abandonedGrant grant")
        #expect(try await third.reserveCode(Make.reservation(code, subject: subject)).word == "underWay")
        let consent = Make.consent(subject: subject)
        #expect(try await store.createConsent(consent, of: code, events: []) == .created)
        #expect(try await third.reserveCode(again).word == "consent \(consent.record.id)")
    }

    @Test("a reservation that lasts for a time is then as if never there", arguments: StoreKind.allCases)
    func expiring(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let end = Make.now.advanced(by: .seconds(60))
        let reservation = Make.reservation(expiresAt: end)
        let later = Make.reservation(reservation.digest, subject: reservation.subjectIndex, at: end)
        _ = try await store.reserveCode(reservation)
        #expect(try await store.reserveCode(later).word == "underWay")
        try await store.endCode(
            reservation.digest, attempt: reservation.attempt, as: .codeRejected, statement: nil, at: Make.now)
        #expect(try await store.reserveCode(later).word == "reserved")
    }

    @Test(
        "who presents a code for another subject enters the trail of its consent, before there is one and after",
        arguments: StoreKind.allCases)
    func otherSubjects(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let (store, other) = (try place.open(), try place.open())
        let consent = Make.consent()
        let thief = Make.index()
        let reservation = Make.reservation(subject: consent.subjectIndex)
        // The first claim comes before the code has got as far as the store.
        try await other.tellOfOtherSubject(thief, presenting: reservation.digest, claim("first"))
        _ = try await store.reserveCode(reservation)
        for _ in 0..<3 { try await other.tellOfOtherSubject(thief, presenting: reservation.digest, claim("first")) }
        _ = try await store.keepGrant(
            reservation.digest, attempt: reservation.attempt, grant: Make.sealed("grant"), at: Make.now)
        for number in 0..<20 {
            try await other.tellOfOtherSubject(Make.index(), presenting: reservation.digest, claim("c\(number)"))
        }
        let answer = try await store.createConsent(consent, of: reservation.digest, events: [Make.event()])
        #expect(answer == .created)
        var events = try await store.events(of: consent.record.id).map(\.draft)
        #expect(events.map(\.type) == [.created] + Array(repeating: .codeOfOtherSubject, count: 8))
        #expect(Set(events.map(\.caller)) == Set(["backend", "first"] + (0..<7).map { "c\($0)" }))
        #expect(events.allSatisfy { $0.requestID == "r-1" })
        try await other.tellOfOtherSubject(thief, presenting: reservation.digest, claim("late"))
        events = try await store.events(of: consent.record.id).map(\.draft)
        #expect(events.count == 10 && events.last?.caller == "late")
        #expect(try place.claims() == 0)
    }

    @Test("claims on a code enter the trail of the record that it renews, and are dropped with a code that is over")
    func otherSubjectsOfRenewal() async throws {
        let place = try StorePlace(.sqlite)
        let store = try place.open()
        let made = try await store.keepConsent()
        let code = try await store.keepGrant()
        try await store.tellOfOtherSubject(Make.index(), presenting: code, claim("thief"))
        #expect(try await store.renewConsent(Make.renewal(made.id, code: code, expecting: 1)) == .written)
        #expect(try await store.events(of: made.id).map(\.draft.type) == [.created, .renewed, .codeOfOtherSubject])
        let over = Make.reservation()
        _ = try await store.reserveCode(over)
        try await store.tellOfOtherSubject(Make.index(), presenting: over.digest, claim("thief"))
        try await store.endCode(over.digest, attempt: over.attempt, as: .codeRejected, statement: nil, at: Make.now)
        try await store.tellOfOtherSubject(Make.index(), presenting: over.digest, claim("thief"))
        #expect(try place.claims() == 0)
    }

    private func claim(_ caller: String) -> EventDraft {
        var event = Make.event(.codeOfOtherSubject)
        event.caller = caller
        return event
    }
}

extension StorePlace {
    /// How many claims lie beside codes.
    fileprivate func claims() throws -> Int64 { try number("SELECT count(*) FROM code_claims") }
}

extension ReservationAnswer {
    /// The answer in words.
    var word: String {
        switch self {
        case .reserved: "reserved"
        case .reservedOnWatch: "reservedOnWatch"
        case .blocked(let until, let reason): "blocked \(reason.rawValue) \(until.milliseconds)"
        case .consent(let id): "consent \(id)"
        case .ended(let verdict, let statement): "ended \(verdict.rawValue) \(statement?.text ?? "-")"
        case .underWay: "underWay"
        case .abandonedGrant(let grant): "abandonedGrant \(grant.text)"
        case .otherSubject(let id): "otherSubject \(id?.description ?? "nil")"
        }
    }
}

extension SealedBytes {
    var text: String { String(decoding: bytes, as: UTF8.self) }
}
