// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeJSON

/// `verify`: a line on each chain and checkpoint that does not hold, then the counts; status 1 if there is one.
package enum LedgerOutput {
    package static func report(_ report: LedgerReport, json: Bool) -> CommandOutput {
        CommandOutput(
            text: json ? jsonDocument(document(report)) : text(report), status: report.holds ? .done : .partlyDone)
    }

    private static func text(_ report: LedgerReport) -> String {
        let chains = report.findings.map { "\($0.consent)  event \($0.sequence)  \($0.fault): \(meaning($0))\n" }
        let checkpoints = report.checkpoints.findings.map { CheckpointWords.line($0) + "\n" }
        let counts = "\(count(report.consents, "consent")), \(count(report.events, "event")): "
        return (chains + checkpoints).joined() + counts + verdict(report.findings) + "\n" + text(report.checkpoints)
            + "\n"
    }

    private static func verdict(_ findings: [LedgerReport.Finding]) -> String {
        let broken = Set(findings.filter { $0.column == nil }.map(\.consent)).count
        let differing = Set(findings.filter { $0.column != nil }.map(\.consent)).count
        let chains =
            broken == 0 ? "every chain holds" : "\(count(broken, "chain")) \(broken == 1 ? "does" : "do") not hold"
        if differing == 0 { return chains }
        return chains + ", \(count(differing, "record")) \(differing == 1 ? "differs" : "differ") from "
            + (differing == 1 ? "its chain" : "their chains")
    }

    private static func text(_ checkpoints: LedgerReport.Checkpoints) -> String {
        let broken = checkpoints.findings.count
        let verdict = broken == 0 ? "every one holds" : "\(count(broken, "fault"))"
        let last = checkpoints.last.map { ", the last \($0.name) of \($0.at.text)" } ?? ""
        let line =
            checkpoints.count == 0 && broken == 0
            ? "no checkpoint yet" : "\(count(checkpoints.count, "checkpoint"))\(last): \(verdict)"
        guard broken == 0, let since = checkpoints.since else { return line }
        return line + "\nall that stood at checkpoint \(since.name) of \(since.at.text) is there"
    }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    private static func meaning(_ finding: LedgerReport.Finding) -> String {
        switch finding.fault {
        case "altered": "it is not what was written, or was written with another ledger key"
        case "gap": "events are missing before the next one"
        case "cut": "the events from here on are gone"
        case "record_differs": "the record's \(finding.column ?? "content") is not what the chain tells"
        case "missing": "the record is gone, and something still tells of it"
        default: "the record tells of another end of the chain"
        }
    }

    private static func document(_ report: LedgerReport) -> JSONValue {
        var document = JSONValue.object()
        document.set("ok", report.holds)
        document.set("consents", report.consents)
        document.set("events", report.events)
        document.set(
            "findings",
            report.findings.map { finding -> JSONValue in
                var entry: JSONValue = [
                    "consent_id": JSONValue(finding.consent.description), "seq": JSONValue(finding.sequence),
                    "fault": JSONValue(finding.fault),
                ]
                if let column = finding.column { entry.set("field", column) }
                return entry
            })
        document.set("checkpoints", self.document(report.checkpoints))
        return document
    }

    private static func document(_ checkpoints: LedgerReport.Checkpoints) -> JSONValue {
        var document = JSONValue.object()
        document.set("count", checkpoints.count)
        document.set("last", self.document(checkpoints.last))
        if checkpoints.isSinceAsked { document.set("since", self.document(checkpoints.since)) }
        document.set("findings", checkpoints.findings.map(CheckpointWords.document))
        return document
    }

    private static func document(_ named: LedgerReport.Named?) -> JSONValue {
        guard let named else { return .null }
        return ["name": JSONValue(named.name.description), "at": JSONValue(named.at.text)]
    }
}
