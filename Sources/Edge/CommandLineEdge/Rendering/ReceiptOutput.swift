// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeJSON
package import RecordRendering

/// `consents receipt`: for people as a table, for programs as the API answers it.
package enum ReceiptOutput {
    package static func receipt(_ receipt: ConsentReceipt, from writer: ReceiptWriter, json: Bool) -> CommandOutput {
        if json { return CommandOutput(text: jsonDocument(writer.json(of: receipt))) }
        let rows = (parties(receipt) + content(receipt) + state(receipt)).map { [$0.name, $0.value] }
        return CommandOutput(text: "Receipt \(receipt.identifier)\n" + TextTable.text(rows, indent: 2))
    }

    /// The signed form, on one line; as JSON the member `jwt`.
    package static func token(_ token: String, json: Bool) -> CommandOutput {
        CommandOutput(text: json ? jsonDocument(["jwt": JSONValue(token)]) : token + "\n")
    }

    private typealias Row = (name: String, value: String)

    private static func parties(_ receipt: ConsentReceipt) -> [Row] {
        let record = receipt.consent.record
        return [
            ("issued", receipt.issuedAt.text),
            ("consent", record.id.description),
            ("subject", receipt.consent.subject.text),
            ("controller", receipt.notice?.controller ?? "not known"),
            ("provider", record.provider.name + (record.provider.environment.map { " (\($0))" } ?? "")),
        ]
    }

    private static func content(_ receipt: ConsentReceipt) -> [Row] {
        let notice = receipt.notice
        var rows: [Row] = [("notice", name(of: receipt))]
        if let url = notice?.privacyPolicy { rows.append(("privacy policy", url)) }
        if let url = notice?.userAgreement { rows.append(("user agreement", url)) }
        if let digest = notice?.textSHA256 { rows.append(("text shown", "SHA-256 " + digest)) }
        let purposes = notice?.purposes ?? []
        rows.append(("purposes", purposes.isEmpty ? "not known" : purposes.joined(separator: "; ")))
        rows.append(("jurisdiction", notice?.jurisdiction ?? "not known"))
        let scopes = receipt.consent.record.granted
        rows.append(("scopes granted", scopes.names.isEmpty ? "none" : scopes.blankSeparated))
        let categories = receipt.categories.map(\.rawValue).joined(separator: ", ")
        rows.append(("personal data", categories.isEmpty ? "none" : categories))
        return rows
    }

    private static func name(of receipt: ConsentReceipt) -> String {
        guard let reference = receipt.consent.record.notice else { return "none was named" }
        let assumed = reference.isAssumed ? " (assumed)" : ""
        return reference.text + assumed + (receipt.notice == nil ? ", not configured any more" : "")
    }

    private static func state(_ receipt: ConsentReceipt) -> [Row] {
        let record = receipt.consent.record
        var rows = receipt.steps.map { step -> Row in
            let reason = step.reason.map { " (\($0))" } ?? ""
            let notice = step.notice.map { " under \($0.text)" } ?? ""
            let app = step.app.map { " in an app (\($0))" } ?? ""
            return (words(step.state), step.at.text + reason + notice + app)
        }
        rows.append(("status", record.status.rawValue + (record.statusReason.map { " (\($0.rawValue))" } ?? "")))
        rows.append(("ledger", "event \(receipt.head.sequence), mac \(Hexadecimal.text(of: receipt.head.mac))"))
        return rows
    }

    private static func words(_ state: ConsentStep.State) -> String {
        switch state {
        case .given: "given"
        case .renewed: "given again"
        case .withdrawn: "withdrawn"
        case .revoked: "revoked"
        case .expired: "expired"
        case .unknown: "no longer known"
        }
    }
}
