// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeJSON

/// What `verify` found.
package struct LedgerReport: Sendable, Equatable {
    /// One chain that does not hold.
    package struct Finding: Sendable, Equatable {
        package var consent: ConsentID
        /// The first event that does not hold.
        package var sequence: Int64
        /// `altered`, `gap`, `cut` or `head_differs`.
        package var fault: String

        package init(consent: ConsentID, sequence: Int64, fault: String) {
            self.consent = consent
            self.sequence = sequence
            self.fault = fault
        }
    }
    package var consents: Int
    package var events: Int
    package var findings: [Finding]

    package init(consents: Int, events: Int, findings: [Finding]) {
        self.consents = consents
        self.events = events
        self.findings = findings
    }
}

/// `verify`: a line on each chain that does not hold, then the counts; status 1 if there is one.
package enum LedgerOutput {
    package static func report(_ report: LedgerReport, json: Bool) -> CommandOutput {
        CommandOutput(
            text: json ? jsonDocument(document(report)) : text(report),
            status: report.findings.isEmpty ? .done : .partlyDone)
    }

    private static func text(_ report: LedgerReport) -> String {
        let lines = report.findings.map { "\($0.consent)  event \($0.sequence)  \($0.fault): \(meaning($0.fault))\n" }
        let counts =
            "\(report.consents) consent\(report.consents == 1 ? "" : "s"), "
            + "\(report.events) event\(report.events == 1 ? "" : "s"): "
        let broken = report.findings.count
        let verdict =
            broken == 0 ? "every chain holds" : "\(broken) chain\(broken == 1 ? " does" : "s do") not hold"
        return lines.joined() + counts + verdict + "\n"
    }

    private static func meaning(_ fault: String) -> String {
        switch fault {
        case "altered": "it is not what was written, or was written with another ledger key"
        case "gap": "events are missing before the next one"
        case "cut": "the events from here on are gone"
        default: "the record tells of another end of the chain"
        }
    }

    private static func document(_ report: LedgerReport) -> JSONValue {
        var document = JSONValue.object()
        document.set("ok", report.findings.isEmpty)
        document.set("consents", report.consents)
        document.set("events", report.events)
        document.set(
            "findings",
            report.findings.map { finding -> JSONValue in
                [
                    "consent_id": JSONValue(finding.consent.description), "seq": JSONValue(finding.sequence),
                    "fault": JSONValue(finding.fault),
                ]
            })
        return document
    }
}
