// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents
import Testing

@Suite("What verify prints")
struct LedgerOutputTests {
    private let id = ConsentID("cns_019378f0c0de7000a1b2c3d4e5f60711")
    private let named = CheckpointName("9-a2e33e811495e20b718b81fa8c0db795").map {
        // 2026-01-02T03:04:05Z.
        LedgerReport.Named(name: $0, at: Instant(milliseconds: 1_767_323_045_000))
    }

    private func checkpoints(
        _ count: Int = 0, isSinceAsked: Bool = false, since: LedgerReport.Named? = nil,
        _ findings: [CheckpointFinding] = []
    ) -> LedgerReport.Checkpoints {
        LedgerReport.Checkpoints(
            count: count, last: count == 0 ? nil : named, isSinceAsked: isSinceAsked, since: since, findings: findings)
    }

    @Test("evidence that holds is a line on chains, one on checkpoints, and one on the checkpoint that was asked for")
    func good() {
        let bare = LedgerReport(consents: 1, events: 3, findings: [], checkpoints: checkpoints())
        #expect(
            LedgerOutput.report(bare, json: false)
                == CommandOutput(text: "1 consent, 3 events: every chain holds\nno checkpoint yet\n"))
        let since = LedgerReport(
            consents: 2, events: 1, findings: [], checkpoints: checkpoints(1, isSinceAsked: true, since: named))
        #expect(
            LedgerOutput.report(since, json: false)
                == CommandOutput(
                    text: """
                        2 consents, 1 event: every chain holds
                        1 checkpoint, the last 9-a2e33e811495e20b718b81fa8c0db795 of 2026-01-02T03:04:05Z: \
                        every one holds
                        all that stood at checkpoint 9-a2e33e811495e20b718b81fa8c0db795 of 2026-01-02T03:04:05Z is there

                        """))
    }

    @Test("a record that differs from its chain is a line a field, and no broken chain")
    func differing() throws {
        let id = try #require(id)
        let report = LedgerReport(
            consents: 2, events: 4,
            findings: [
                LedgerReport.Finding(consent: id, sequence: 2, fault: "record_differs", column: "status"),
                LedgerReport.Finding(consent: id, sequence: 1, fault: "record_differs", column: "notice"),
            ], checkpoints: checkpoints())
        #expect(
            LedgerOutput.report(report, json: false)
                == CommandOutput(
                    text: """
                        \(id)  event 2  record_differs: the record's status is not what the chain tells
                        \(id)  event 1  record_differs: the record's notice is not what the chain tells
                        2 consents, 4 events: every chain holds, 1 record differs from its chain
                        no checkpoint yet

                        """, status: .partlyDone))
        #expect(LedgerOutput.report(report, json: true).text.contains(#""field": "status""#))
    }

    @Test("verify's help says what each word of a finding means")
    func words() {
        let help = CommandOutput.help(["verify"]).text.replacing("\n", with: " ")
        for word in [
            "altered", "gap", "cut", "head_differs", "missing", "record_differs", "key_unknown", "unsigned",
            "order_broken", "gone", "replaced", "newer_than_store", "root_differs", "counts_differ",
        ] {
            #expect(help.contains("`\(word)`:"), "\(word)")
        }
    }

    private func broken() throws -> LedgerReport {
        let id = try #require(id)
        return LedgerReport(
            consents: 2, events: 1,
            findings: [
                LedgerReport.Finding(consent: id, sequence: 3, fault: "altered"),
                LedgerReport.Finding(consent: id, sequence: 1, fault: "missing"),
            ],
            checkpoints: checkpoints(
                9, isSinceAsked: true,
                [
                    CheckpointFinding(number: 1, fault: .altered),
                    CheckpointFinding(number: 2, fault: .keyUnknown("e\u{1b}1")),
                    CheckpointFinding(number: 3, fault: .unsigned),
                    CheckpointFinding(number: 4, fault: .orderBroken),
                    CheckpointFinding(number: 5, fault: .gone(through: 5)),
                    CheckpointFinding(number: 6, fault: .gone(through: 8)),
                    CheckpointFinding(number: 9, fault: .replaced(by: "9-aa")),
                    CheckpointFinding(number: 9, fault: .replaced(by: nil)),
                    CheckpointFinding(number: 10, fault: .newerThanStore(newest: 9)),
                    CheckpointFinding(number: 10, fault: .newerThanStore(newest: 0)),
                    CheckpointFinding(number: 9, fault: .rootDiffers),
                    CheckpointFinding(
                        number: 9,
                        fault: .countsDiffer(
                            since: 4, told: .init(consents: 1, events: 2), found: .init(consents: 0, events: 1))),
                    CheckpointFinding(
                        number: 1,
                        fault: .countsDiffer(
                            since: 0, told: .init(consents: 2, events: 2), found: .init(consents: 2, events: 3))),
                ]))
    }

    @Test("what does not hold is a line each, and fails")
    func bad() throws {
        let output = LedgerOutput.report(try broken(), json: false)
        #expect(output.status == .partlyDone)
        #expect(
            output.text == """
                cns_019378f0c0de7000a1b2c3d4e5f60711  event 3  altered: it is not what was written, or was written \
                with another ledger key
                cns_019378f0c0de7000a1b2c3d4e5f60711  event 1  missing: the record is gone, and something still \
                tells of it
                checkpoint 1  altered: its signature is not what the key makes of it
                checkpoint 2  key_unknown: the ring does not hold the key 'e?1' that signed it
                checkpoint 3  unsigned: its signature was taken away
                checkpoint 4  order_broken: it names another one before it than the store has
                checkpoint 5  gone: not in the store any more
                checkpoints 6 to 8  gone: not in the store any more
                checkpoint 9  replaced: the store has another one of that number, 9-aa
                checkpoint 9  replaced: the store has another one of that number, without a signature
                checkpoint 10  newer_than_store: the store's last one is 9: it is older, or was cut
                checkpoint 10  newer_than_store: the store has none: it is older, or was cut
                checkpoint 9  root_differs: the chains are not the ones that it was made of
                checkpoint 9  counts_differ: since checkpoint 4 it tells of 1 consent and 2 events, \
                0 consents and 1 event are there
                checkpoint 1  counts_differ: from the start it tells of 2 consents and 2 events, \
                2 consents and 3 events are there
                2 consents, 1 event: 1 chain does not hold
                9 checkpoints, the last 9-a2e33e811495e20b718b81fa8c0db795 of 2026-01-02T03:04:05Z: 13 faults

                """)
    }

    @Test("as JSON each fault has its word and its numbers")
    func json() throws {
        var report = try broken()
        report.checkpoints.findings = Array(report.checkpoints.findings.suffix(3).prefix(2))
        #expect(
            LedgerOutput.report(report, json: true).text == """
                {
                  "ok": false,
                  "consents": 2,
                  "events": 1,
                  "findings": [
                    {
                      "consent_id": "cns_019378f0c0de7000a1b2c3d4e5f60711",
                      "seq": 3,
                      "fault": "altered"
                    },
                    {
                      "consent_id": "cns_019378f0c0de7000a1b2c3d4e5f60711",
                      "seq": 1,
                      "fault": "missing"
                    }
                  ],
                  "checkpoints": {
                    "count": 9,
                    "last": {
                      "name": "9-a2e33e811495e20b718b81fa8c0db795",
                      "at": "2026-01-02T03:04:05Z"
                    },
                    "since": null,
                    "findings": [
                      {
                        "checkpoint": 9,
                        "fault": "root_differs"
                      },
                      {
                        "checkpoint": 9,
                        "fault": "counts_differ",
                        "since": 4,
                        "told": {
                          "consents": 1,
                          "events": 2
                        },
                        "found": {
                          "consents": 0,
                          "events": 1
                        }
                      }
                    ]
                  }
                }

                """)
    }
}
