// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import Testing

@Suite("Consents in any store", .places)
struct ConsentTests {
    @Test("a consent comes back as it was kept", arguments: StoreKind.allCases)
    func roundTrip(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        for provider in [Make.provider, ProviderKey(name: "acme", environment: nil)] {
            for providerSubject in [Make.index(), nil] {
                let consent = Make.consent(providerSubject: providerSubject, provider: provider)
                _ = try await store.keepConsent(consent)
                let found = try #require(try await store.consent(consent.record.id))
                #expect(found.text == consent.text)
            }
        }
        #expect(try await store.consent(ConsentID(Make.uuid())) == nil)
    }

    @Test("one live consent of the four: a second one is told the first", arguments: StoreKind.allCases)
    func liveExists(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let (subject, person) = (Make.index(), Make.index())
        let first = try await store.keepConsent(Make.consent(subject: subject, providerSubject: person))
        let code = try await store.keepGrant(subject: subject)
        let second = Make.consent(subject: subject, providerSubject: person)
        #expect(try await store.createConsent(second, of: code, events: []) == .liveExists(first.id))
        let other = Make.consent(
            subject: subject, providerSubject: person, provider: ProviderKey(name: "paypal", environment: "live"))
        #expect(try await store.createConsent(other, of: code, events: []) == .created)
    }

    @Test("a grant becomes one consent, whoever tries again", arguments: StoreKind.allCases)
    func alreadyConsent(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let made = try await store.keepConsent()
        let again = try await store.createConsent(Make.consent(), of: made.code, events: [Make.event()])
        #expect(again == .alreadyConsent(made.id))
        #expect(try await store.events(of: made.id).count == 1)
    }

    @Test("a renewal is a compare-and-set on the generation, written once", arguments: StoreKind.allCases)
    func renewal(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let made = try await store.keepConsent()
        let attempt = Make.attempt()
        #expect(try await store.claimRefresh(Make.claim(made.id, attempt)) == .claimed)
        let code = try await store.keepGrant()
        #expect(try await store.renewConsent(Make.renewal(made.id, code: code, expecting: 2)) == .generationMoved)
        #expect(try await store.renewConsent(Make.renewal(made.id, code: code, expecting: 1)) == .written)
        #expect(try await store.renewConsent(Make.renewal(made.id, code: code, expecting: 1)) == .alreadyWritten)
        let found = try #require(try await store.consent(made.id))
        #expect(found.record.generation == 2)
        #expect(found.tokens?.text == "tokens of a renewal")
        #expect(found.record.issuer.clientID == "client 2")
        #expect(found.attempt == nil)
        #expect(try await store.events(of: made.id).map(\.draft.type) == [.created, .renewed])
        #expect(try await store.saveTokens(Make.tokens(made.id, attempt)) == .generationMoved)
    }

    @Test("two renewals that race write one", arguments: StoreKind.allCases)
    func racingRenewals(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let made = try await store.keepConsent()
        let codes = [try await store.keepGrant(), try await store.keepGrant()]
        async let first = store.renewConsent(Make.renewal(made.id, code: codes[0], expecting: 1))
        async let second = store.renewConsent(Make.renewal(made.id, code: codes[1], expecting: 1))
        let answers = [try await first, try await second]
        #expect(answers.contains(.written) && answers.contains(.generationMoved))
    }

    @Test("a provider subject that comes later supersedes the older record", arguments: StoreKind.allCases)
    func supersedes(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let (subject, person) = (Make.index(), Make.index())
        let older = try await store.keepConsent(Make.consent(subject: subject, providerSubject: person)).id
        let newer = try await store.keepConsent(
            Make.consent(subject: subject, providerSubject: nil, at: Make.now.advanced(by: .seconds(1)))
        ).id
        #expect(try await store.saveProfile(Make.profile(newer, providerSubject: person)) == .superseded(older))
        try await expectSuperseded(older, by: newer, in: store)
        let kept = try #require(try await store.consent(newer))
        #expect(kept.record.profileStatus == .current)
        #expect(kept.providerSubjectIndex == person)
        #expect(kept.profile?.text == "profile 2")
    }

    @Test("an older record gives way when its provider subject comes late", arguments: StoreKind.allCases)
    func givesWay(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let (subject, person) = (Make.index(), Make.index())
        let older = try await store.keepConsent(Make.consent(subject: subject, providerSubject: nil)).id
        let newer = try await store.keepConsent(
            Make.consent(subject: subject, providerSubject: person, at: Make.now.advanced(by: .seconds(1)))
        ).id
        #expect(try await store.saveProfile(Make.profile(older, providerSubject: person)) == .gaveWay(to: newer))
        try await expectSuperseded(older, by: newer, in: store)
        #expect(try await store.consent(newer)?.tokens?.text == "tokens 1")
    }

    private func expectSuperseded(_ older: ConsentID, by newer: ConsentID, in store: any ConsentStore) async throws {
        let found = try #require(try await store.consent(older))
        #expect(found.record.status == .superseded)
        #expect(found.record.supersededBy == newer)
        #expect(found.record.profileStatus == .unavailable)
        #expect(found.tokens == nil && found.profile == nil)
        #expect(try await store.events(of: older).last?.draft.type == .superseded)
        // Ended for good.
        let code = try await store.keepGrant()
        #expect(try await store.renewConsent(Make.renewal(older, code: code, expecting: 1)) == .ended)
        #expect(try await store.claimRefresh(Make.claim(older, Make.attempt())) == .ended)
        #expect(try await store.saveTokens(Make.tokens(older, Make.attempt())) == .ended)
        #expect(try await store.saveProfile(Make.profile(older, providerSubject: nil)) == .ended)
        #expect(try await store.consent(older)?.record.status == .superseded)
    }

    @Test("tokens are sealed again only where they are those that were read", arguments: StoreKind.allCases)
    func sealedAgain(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let id = try await store.keepConsent().id
        var write = Make.profile(id, providerSubject: nil, status: .pending)
        write.tokens = ProfileWrite.SealedAgain(generation: 2, sealed: Make.sealed("others"))
        let before = try #require(try await store.consent(id))
        #expect(try await store.saveProfile(write) == .generationMoved)
        let untouched = try #require(try await store.consent(id))
        #expect(untouched.text == before.text)
        write.tokens = ProfileWrite.SealedAgain(generation: 1, sealed: Make.sealed("the same, sealed again"))
        #expect(try await store.saveProfile(write) == .saved)
        let found = try #require(try await store.consent(id))
        #expect(found.tokens?.text == "the same, sealed again")
        #expect(found.record.generation == 1 && found.record.profileStatus == .pending)
        #expect(found.record.timing == before.record.timing && found.record.status == before.record.status)
    }

    @Test("a provider subject never changes", arguments: StoreKind.allCases)
    func providerSubject(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let person = Make.index()
        let made = try await store.keepConsent(Make.consent(providerSubject: person))
        let other = Make.profile(made.id, providerSubject: Make.index())
        #expect(try await store.saveProfile(other) == .providerSubjectDiffers)
        #expect(try await store.consent(made.id)?.profile?.text == "profile 1")
        #expect(try await store.saveProfile(Make.profile(made.id, providerSubject: person)) == .saved)
        let found = try await store.consent(made.id)
        #expect(found?.profile?.text == "profile 2")
        #expect(found?.providerSubject?.text == "sub")
    }

    @Test("a lapsed consent expires once and is never revived", arguments: StoreKind.allCases)
    func expires(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let made = try await store.keepConsent()
        let event = Make.event(.expired)
        #expect(try await store.expire(made.id, generation: 2, at: Make.now, event: event) == .generationMoved)
        #expect(try await store.expire(made.id, generation: 1, at: Make.now, event: event) == .written)
        #expect(try await store.expire(made.id, generation: 1, at: Make.now, event: event) == .alreadyWritten)
        let found = try #require(try await store.consent(made.id))
        #expect(found.record.status == .expired && found.record.statusReason == .noRefreshToken)
        #expect(found.tokens == nil && found.profile?.text == "profile 1")
        #expect(try await store.saveTokens(Make.tokens(made.id, Make.attempt())) == .ended)
    }

    @Test("events lie in a chain whose macs anybody with the key can make again", arguments: StoreKind.allCases)
    func chain(_ kind: StoreKind) async throws {
        let store = try StorePlace(kind).open()
        let made = try await store.keepConsent()
        let odd = Make.event(
            .profileFetched,
            data: [
                "z": .integer(-3), "a": .text("\u{e4}\"\\\n\u{0}"), "B": .text(""),
                "c": .text("\u{1}\u{8}\t\u{C}\r\u{1F}\u{7F}/'"), "\"": .text("\u{1F600}"),
            ])
        try await store.append(odd, to: made.id)
        var bare = Make.event(.refreshed)
        bare.requestID = nil
        bare.personal = nil
        try await store.append(bare, to: made.id)
        let events = try await store.events(of: made.id)
        #expect(events.map(\.sequence) == [1, 2, 3])
        #expect(events[1].draft.data == odd.data)
        #expect(events[1].draft.personal?.text == "salts")
        #expect(events[2].draft.requestID == nil && events[2].draft.personal == nil)
        let at = Make.now.milliseconds
        let texts = [
            #"{"at":\#(at),"caller":"backend","consent":"\#(made.id)","data":{},"request_id":"r-1","seq":1,"#
                + #""type":"consent.created"}"#,
            #"{"at":\#(at),"caller":"backend","consent":"\#(made.id)","data":{"\"":"\#u{1F600}","B":"","#
                + #""a":"ä\"\\\n\u0000","c":"\u0001\b\t\f\r\u001F\#u{7F}/'","z":-3},"#
                + #""request_id":"r-1","seq":2,"type":"consent.profile_fetched"}"#,
            #"{"at":\#(at),"caller":"backend","consent":"\#(made.id)","data":{},"seq":3,"type":"consent.refreshed"}"#,
        ]
        var head: [UInt8] = []
        for (event, text) in zip(events, texts) {
            head = FakeLedger().mac(previous: head, event: Array(text.utf8))
            #expect(event.mac == head)
        }
    }
}

extension StoredConsent {
    /// Everything in it, to compare by.
    var text: String { "\(self)" }
}
