// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents
import Testing

@Suite("What restore-check shows")
struct RestoreOutputTests {
    private let life = UUIDv7(milliseconds: 1_767_323_045_000, random: (1, 2))
    private let id = ConsentID(UUIDv7(milliseconds: 1_767_323_045_000, random: (3, 4)))

    private func mark(_ number: Int64) -> EpochMark {
        EpochMark(
            epoch: StoreEpoch(incarnation: life, number: number),
            at: Instant(milliseconds: 1_767_323_045_000 + 10_000 * number))
    }

    private func found(isBehind: Bool, missing: [(id: ConsentID, end: String)] = []) -> RestoreFindings {
        RestoreFindings(
            store: mark(1), noted: mark(isBehind ? 8 : 1), isBehind: isBehind, grants: 7, dueInLostTime: 2,
            touchedSince: 1, missing: missing)
    }

    @Test("a store that is behind is told with what it lacks, and how it goes on")
    func behind() {
        let output = RestoreOutput.report(found(isBehind: true, missing: [(id, "user")]), json: false)
        #expect(output.status == .partlyDone)
        #expect(
            output.text == """
                store                 incarnation \(life.hexadecimal), epoch 1, 2026-01-02T03:04:15Z
                state_dir             incarnation \(life.hexadecimal), epoch 8, 2026-01-02T03:05:25Z
                grants                7
                due in the lost time  2
                changed since         1
                withdrawals missing   1
                                      \(id)  user
                The store came back from a copy: nothing is refreshed. 'restore-check --accept' withdraws again
                what is missing, and lets refreshing go on.

                """)
    }

    @Test("a store in order is told so")
    func inOrder() {
        let output = RestoreOutput.report(found(isBehind: false), json: false)
        #expect(output.status == .done)
        #expect(output.text.hasSuffix("The store is not behind what was noted: nothing to accept.\n"))
        let missing = RestoreOutput.report(found(isBehind: false, missing: [(id, "operator")]), json: false)
        #expect(missing.status == .partlyDone)
    }

    @Test("as JSON it has the same")
    func json() {
        let output = RestoreOutput.report(found(isBehind: true, missing: [(id, "erasure")]), json: true)
        for part in [
            #""behind": true"#, #""grants": 7"#, #""due_in_lost_time": 2"#, #""changed_since": 1"#,
            #""epoch": 8"#, #""consent": "\#(id)""#, #""ended_by": "erasure""#,
        ] { #expect(output.text.contains(part), "\(part) in \(output.text)") }
        let accepted = RestoreOutput.accepted(mark(9).epoch, withdrawn: [id], failed: [], json: true)
        #expect(accepted.status == .done && accepted.text.contains(#""accepted": true"#))
    }

    @Test("an acceptance tells what was withdrawn again; one that failed accepts nothing")
    func accepted() {
        let output = RestoreOutput.accepted(mark(9).epoch, withdrawn: [id], failed: [], json: false)
        #expect(output.status == .done)
        #expect(
            output.text == """
                withdrawn again: \(id)
                The store is accepted as incarnation \(life.hexadecimal), epoch 9.
                Refreshing goes on: each grant is tried once, and one that is refused needs a new consent.

                """)
        let failed = RestoreOutput.accepted(mark(9).epoch, withdrawn: [], failed: [id], json: false)
        #expect(failed.status == .partlyDone)
        #expect(failed.text == "could not be withdrawn: \(id)\nNothing was accepted: run it again.\n")
    }
}
