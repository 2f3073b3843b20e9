// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Testing

@Suite("Moving consents from the command line")
struct MoveCommandTests {
    private func understood(_ line: String) throws(UsageError) -> Command {
        try CommandLineParser.parse(line.split(separator: " ").map(String.init)).command
    }

    @Test("a file's path as written, and the database of the configuration or another")
    func requests() throws {
        #expect(try understood("migrate --from sqlite:var/c.db") == .move(MoveRequest(source: "var/c.db")))
        let url = "postgres://gateway@db.example/consents"
        #expect(
            try understood("migrate --from=sqlite:/c.db --to \(url)")
                == .move(MoveRequest(source: "/c.db", target: url)))
    }

    @Test(
        "what is neither a file nor a database is a usage error that shows no password",
        arguments: [
            "migrate --from consents.db", "migrate --from sqlite:", "migrate --to postgres://db/c",
            "migrate --from sqlite:c.db --status", "migrate --from sqlite:c.db --to mysql://u:hunter2@db/c",
        ])
    func wrong(_ line: String) {
        let error = #expect(throws: UsageError.self) { try understood(line) }
        #expect(error?.output.status == .usage)
        #expect(error?.output.errors.contains("hunter2") == false)
    }

    private func findings(_ end: MoveFindings.End, difference: String?, root: String) -> MoveFindings {
        MoveFindings(
            end: end,
            tables: [
                .init(
                    name: "consents", source: 2, target: difference == nil ? 2 : 1, copied: 1, difference: difference)
            ],
            source: .init(count: 2, root: "aa"), target: .init(count: 2, root: root), isSourceChanged: false)
    }

    @Test("a move that is done tells rows, chains and their root")
    func moved() {
        let output = MoveOutput.report(findings(.moved, difference: nil, root: "aa"), json: false)
        #expect(output.status == .done)
        #expect(output.text.hasPrefix("table     rows  copied now\nconsents  2     1\nMoved and verified"))
        #expect(output.text.contains("2 chains end alike\n(Merkle root aa)"))
    }

    @Test("a copy that differs is status 1 and tells where")
    func differs() {
        let output = MoveOutput.report(findings(.differs, difference: "cns_1", root: "bb"), json: false)
        #expect(output.status == .partlyDone)
        #expect(output.text.contains("the file has 2; first difference at cns_1\n"))
        #expect(output.text.contains("root aa; 2 in the tables, root bb.\n"))
        let document = MoveOutput.report(findings(.differs, difference: "cns_1", root: "bb"), json: true)
        #expect(document.status == .partlyDone && document.text.contains("\"moved\": false"))
    }

    @Test("a second run says when it was moved")
    func movedBefore() {
        let found = findings(.movedBefore("2026-01-02T03:04:05Z"), difference: nil, root: "aa")
        let output = MoveOutput.report(found, json: false)
        #expect(
            output.text == "The file was moved on 2026-01-02T03:04:05Z, and every row was verified: nothing to do.\n")
        #expect(MoveOutput.report(found, json: true).text.contains("\"moved_before_at\""))
    }
}
