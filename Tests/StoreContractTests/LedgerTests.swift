// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import ConsentUseCases
import Consents
import NativeSQLite
import Observability
import TestSupport
import Testing
import TokenVaults

/// What somebody does to the store behind the program's back, and what `verify` says of it.
@Suite("Tampering with the evidence", .places)
struct LedgerTests {
    /// A store with three hours of events and a checkpoint after each, and what verifies it.
    private struct House {
        let place: StorePlace
        let store: SQLStore
        let vault: RingVault
        let make: MakeCheckpoint
        let log = MemorySink()
        var ids: [ConsentID] = []
        var names: [CheckpointName] = []

        init(_ kind: StoreKind) throws {
            place = try StorePlace(kind)
            store = try place.open()
            vault = try RingVault(ring: KeyRing.generate(at: Make.now))
            let log = Log(level: .info, format: .json, sink: log, now: { 0 })
            make = MakeCheckpoint(store: store, keys: vault, time: ManualTime(), log: log)
        }

        static func filled(_ kind: StoreKind) async throws -> House {
            var house = try House(kind)
            for hour in 0..<3 {
                house.ids.append(try await house.keepConsent())
                for id in house.ids { try await house.store.append(House.refreshed, to: id) }
                try await house.checkpoint()
                #expect(house.names.count == hour + 1)
            }
            return house
        }

        /// A consent as an exchange makes one, sealed and borne out by its event.
        func keepConsent() async throws -> ConsentID {
            var consent = Make.consent()
            let key = try vault.makeConsentKey(for: consent.record.id)
            let person = SecretText("canary-subject-1")
            consent.key = key.envelope
            consent.subject = try vault.seal(SecretText("canary-user-1"), as: .subject, under: key)
            consent.subjectIndex = vault.index(of: try #require(Subject("canary-user-1")))
            consent.providerSubject = try vault.seal(person, as: .providerSubject, under: key)
            // Several consents of one person may not live at once.
            consent.record.provider = ProviderKey(name: "p\(consent.record.id)", environment: nil)
            consent.providerSubjectIndex = vault.index(ofProviderSubject: person, at: consent.record.provider)
            let part = try vault.personalPart(
                ["subject": SecretText("canary-user-1"), "provider_subject": person], under: key)
            var event = Make.event(data: part.digests)
            event.personal = part.sealed
            event.data["provider"] = .text(consent.record.provider.name)
            event.data["scopes_requested"] = .text(consent.record.requested.blankSeparated)
            event.data["offline"] = .text("new")
            event.data["notice"] = consent.record.notice.map { .text($0.text) }
            event.data["notice_assumed"] = .text("true")
            event.data["app_platform"] = consent.record.client?.platform.map(EventValue.text)
            event.data["app_sdk_version"] = consent.record.client?.sdkVersion.map(EventValue.text)
            event.data.merge(House.refreshed.data) { first, _ in first }
            return try await store.keepConsent(consent, event).id
        }

        static var refreshed: EventDraft {
            let expiry = Make.timing().accessTokenExpiresAt.milliseconds
            return Make.event(
                .refreshed,
                data: ["scopes_granted": .text("openid"), "access_token_expires_at": .integer(expiry)])
        }

        mutating func checkpoint() async throws {
            _ = try await store.beginCheckpoint(every: .zero, at: Make.now)
            names += try await make()
        }

        func verify(_ store: SQLStore? = nil, since: CheckpointName? = nil) async throws -> VerifyLedger.Report {
            try await VerifyLedger(
                store: store ?? self.store, check: RecordCheck(ledger: FakeLedger(), vault: vault), keys: vault)(
                    since: since)
        }

        func execute(_ statement: String, _ id: ConsentID? = nil) throws {
            let bytes = id.map { Hexadecimal.text(of: $0.uuid.bytes) } ?? ""
            try place.tamper(statement.replacing("ID", with: "x'\(bytes)'"))
        }
    }

    private typealias Counts = CheckpointFinding.Counts

    @Test("untouched evidence holds since any checkpoint, also while more is written", arguments: StoreKind.allCases)
    func untouched(_ kind: StoreKind) async throws {
        let house = try await House.filled(kind)
        #expect(house.names.map(\.number) == [1, 2, 3])
        for name in [nil] + house.names.map(Optional.some) {
            let report = try await house.verify(since: name)
            #expect(report.findings.isEmpty && report.checkpointFindings.isEmpty)
            #expect(report.checkpoints == 3 && report.last?.name == house.names[2] && report.since?.name == name)
            #expect(report.consents == 3 && report.events >= 9)
            try await house.store.append(Make.event(.tokenRead), to: house.ids[0])
        }
        let form = try #require(try await house.store.lastCheckpoint()?.checkpoint)
        #expect(form.consents == 3 && form.events == 9 && form.previous == house.names[1].description)
        // Erasure takes the personal parts; what a chain does not tell of is none, and is named.
        try house.execute(
            "UPDATE events SET personal_sealed = NULL; UPDATE consents SET erased_at = 1, key_sealed = NULL")
        let erased = try await house.verify()
        #expect(Set(erased.findings.map(\.column)) == [.erasedAt] && erased.findings.count == 3)
        #expect(try await house.verify(since: house.names[0]).checkpointFindings.isEmpty)
    }

    @Test("an empty store has a checkpoint, and no hour without events breaks the order", arguments: StoreKind.allCases)
    func empty(_ kind: StoreKind) async throws {
        var house = try House(kind)
        for _ in 0..<3 { try await house.checkpoint() }
        let report = try await house.verify(since: house.names[0])
        #expect(report.checkpointFindings.isEmpty && report.checkpoints == 3)
        #expect(report.since?.checkpoint.root == house.vault.sha256([]))
    }

    @Test("the line in the log holds all that the signature is over", arguments: StoreKind.allCases)
    func logged(_ kind: StoreKind) async throws {
        let house = try await House.filled(kind)
        let signed = try #require(try await house.store.lastCheckpoint())
        let form = signed.checkpoint
        let line = try #require(house.log.text.split(separator: "\n").last)
        let at = Make.now.milliseconds
        #expect(
            line.hasSuffix(
                #""message":"a checkpoint was made","checkpoint":"\#(house.names[2])","at_ms":\#(at),"#
                    + #""consents":3,"events":9,"key_id":"\#(form.keyID)","previous":"\#(house.names[1])","#
                    + #""root":"\#(Hexadecimal.text(of: form.root))","#
                    + #""signature":"\#(Hexadecimal.text(of: signed.signature))"}"#), "\(line)")
    }

    @Test("a tail that is cut shows by the record", arguments: StoreKind.allCases)
    func cutTail(_ kind: StoreKind) async throws {
        let house = try await House.filled(kind)
        try house.execute("DELETE FROM events WHERE consent_id = ID AND seq > 2", house.ids[0])
        let report = try await house.verify(since: house.names[2])
        #expect(report.findings == [.init(consent: house.ids[0], sequence: 3, fault: .cut)])
        #expect(
            report.checkpointFindings == [
                .init(
                    number: 2,
                    fault: .countsDiffer(
                        since: 1, told: Counts(consents: 1, events: 3), found: Counts(consents: 1, events: 2))),
                .init(
                    number: 3,
                    fault: .countsDiffer(
                        since: 2, told: Counts(consents: 1, events: 4), found: Counts(consents: 1, events: 3))),
                .init(number: 3, fault: .rootDiffers),
            ])
        #expect(try await house.verify(since: house.names[0]).checkpointFindings.last?.number == 3)
    }

    @Test(
        "a tail that is cut together with what the record tells of it shows by the checkpoint",
        arguments: StoreKind.allCases)
    func cutTailAndHead(_ kind: StoreKind) async throws {
        let house = try await House.filled(kind)
        try house.execute(
            """
            DELETE FROM events WHERE consent_id = ID AND seq > 3;
            UPDATE consents SET event_count = 3, head_period = 1,
                chain_head = (SELECT mac FROM events WHERE consent_id = ID AND seq = 3) WHERE id = ID
            """, house.ids[0])
        let report = try await house.verify()
        #expect(report.findings.isEmpty)
        #expect(
            report.checkpointFindings == [
                .init(
                    number: 3,
                    fault: .countsDiffer(
                        since: 2, told: Counts(consents: 1, events: 4), found: Counts(consents: 1, events: 3))),
                .init(number: 3, fault: .rootDiffers),
            ])
    }

    @Test(
        "a consent that is gone with all its events is named by its exchange, and counted without",
        arguments: StoreKind.allCases)
    func missingConsent(_ kind: StoreKind) async throws {
        let house = try await House.filled(kind)
        try house.execute("DELETE FROM events WHERE consent_id = ID; DELETE FROM consents WHERE id = ID", house.ids[2])
        let differs: [CheckpointFinding] = [
            .init(
                number: 3,
                fault: .countsDiffer(
                    since: 2, told: Counts(consents: 1, events: 4), found: Counts(consents: 0, events: 2))),
            .init(number: 3, fault: .rootDiffers),
        ]
        let report = try await house.verify(since: house.names[1])
        #expect(report.findings == [.init(consent: house.ids[2], sequence: 1, fault: .missing)])
        #expect(report.checkpointFindings == differs)
        try house.execute("DELETE FROM code_reservations")
        let bare = try await house.verify(since: house.names[1])
        #expect(bare.findings.isEmpty && bare.checkpointFindings == differs)
    }

    @Test("an event that is replaced by one with a good mac shows by the root", arguments: StoreKind.allCases)
    func forged(_ kind: StoreKind) async throws {
        let house = try await House.filled(kind)
        let chain = try await house.store.chain(of: house.ids[2])
        let text = String(decoding: chain[1].canonical, as: UTF8.self).replacing("backend", with: "nobody")
        let mac = FakeLedger().mac(previous: chain[0].mac, event: Array(text.utf8))
        try house.execute(
            """
            UPDATE events SET canonical = '\(text)', mac = x'\(Hexadecimal.text(of: mac))'
                WHERE consent_id = ID AND seq = 2;
            UPDATE consents SET chain_head = x'\(Hexadecimal.text(of: mac))' WHERE id = ID
            """, house.ids[2])
        let report = try await house.verify()
        #expect(report.findings.isEmpty)
        #expect(report.checkpointFindings == [.init(number: 3, fault: .rootDiffers)])
    }

    @Test(
        "a checkpoint that was altered, taken away or left without its signature is named",
        arguments: [
            (
                "UPDATE checkpoints SET event_count = 4 WHERE number = 2",
                [CheckpointFinding(number: 2, fault: .altered)]
            ),
            ("UPDATE checkpoints SET at = at + 1 WHERE number = 3", [.init(number: 3, fault: .altered)]),
            ("UPDATE checkpoints SET previous = '' WHERE number = 2", [.init(number: 2, fault: .altered)]),
            ("UPDATE checkpoints SET key_id = 'e0' WHERE number = 1", [.init(number: 1, fault: .keyUnknown("e0"))]),
            ("UPDATE checkpoints SET signature = NULL WHERE number = 2", [.init(number: 2, fault: .unsigned)]),
            ("DELETE FROM checkpoints WHERE number = 2", [.init(number: 2, fault: .gone(through: 2))]),
            ("DELETE FROM checkpoints WHERE number < 3", [.init(number: 1, fault: .gone(through: 2))]),
        ])
    func checkpoints(statement: String, expected: [CheckpointFinding]) async throws {
        let house = try await House.filled(.sqlite)
        try house.execute(statement)
        #expect(try await house.verify().checkpointFindings == expected)
    }

    @Test(
        "the last checkpoint taken away shows by the events behind it, and by whoever kept its name",
        arguments: StoreKind.allCases)
    func lastCheckpoint(_ kind: StoreKind) async throws {
        let house = try await House.filled(kind)
        try house.execute("DELETE FROM checkpoints WHERE number = 3")
        #expect(try await house.verify().checkpointFindings.isEmpty)
        let ahead = CheckpointFinding(number: 3, fault: .newerThanStore(newest: 2))
        #expect(try await house.verify(since: house.names[2]).checkpointFindings == [ahead])
        try house.execute("UPDATE events SET period = 3 WHERE seq = 2 AND consent_id = ID", house.ids[2])
        #expect(
            try await house.verify().checkpointFindings == [.init(number: 3, fault: .gone(through: 3))])
    }

    @Test(
        "a signed checkpoint cannot be made again: another of its number is not the one that was kept",
        arguments: StoreKind.allCases)
    func replaced(_ kind: StoreKind) async throws {
        var house = try await House.filled(kind)
        let kept = house.names[2]
        try house.execute(
            "DELETE FROM checkpoints WHERE number = 3; DELETE FROM events WHERE consent_id = ID;"
                + "DELETE FROM consents WHERE id = ID; DELETE FROM code_reservations", house.ids[2])
        try await house.checkpoint()
        let report = try await house.verify(since: kept)
        #expect(report.since == nil)
        #expect(
            report.checkpointFindings.contains(
                .init(number: 3, fault: .replaced(by: house.names[3].description))))
        // A signature that is taken from an old one is not given anew.
        try house.execute("UPDATE checkpoints SET signature = NULL WHERE number = 1")
        try await house.checkpoint()
        #expect(try await house.verify().checkpointFindings.contains(.init(number: 1, fault: .unsigned)))
    }

    @Test(
        "the hour goes by the clock: none before it is over, one after, and one that was begun is signed by the next",
        arguments: StoreKind.allCases)
    func hourly(_ kind: StoreKind) async throws {
        let house = try House(kind)
        let time = ManualTime()
        let log = Log(level: .info, format: .json, sink: house.log, now: { 0 })
        let make = MakeCheckpoint(store: house.store, keys: house.vault, time: time, log: log)
        // An ended process had begun one.
        _ = try await house.store.beginCheckpoint(every: .zero, at: time.now)
        let keeping = Task { await KeepCheckpoints(make: make, time: time, log: log).run() }
        for minute in 0..<121 {
            try await time.sleeping.next(within: .seconds(60))
            let expected = minute < 60 ? 1 : minute < 120 ? 2 : 3
            #expect(try await house.store.checkpoints(after: 0, limit: 9).count { $0.signed != nil } == expected)
            time.advance(by: KeepCheckpoints.lookInterval)
        }
        keeping.cancel()
        time.advance(by: .seconds(1))
        await keeping.value
        #expect(try await house.verify().checkpointFindings.isEmpty)
    }
}
