// SPDX-License-Identifier: Apache-2.0
package import Consents
package import NativeJSON

/// A consent receipt as JSON-LD in the terms of the W3C Data Privacy Vocabulary (DPV 2), arranged as the DPVCG's guide
/// "Consent Records and Receipts as per ISO/IEC TS 27560:2023" has it: a receipt around a copy of the record.
///
/// What the gateway cannot know is absent: without a configured notice the controller, the purposes and the
/// jurisdiction; always the controller's address and contact, the language, and where and how long data is kept.
package enum ReceiptJSON {
    /// - Parameters:
    ///   - base: where the gateway is reached, without a slash at the end.
    package static func value(of receipt: ConsentReceipt, base: String) -> JSONValue {
        let address = "\(base)/v1/consents/\(receipt.consent.record.id)"
        var json = JSONValue.object()
        json.set("@context", ReceiptContext.value())
        json.set("@id", address + "/receipt")
        json.set("@type", "dpv:ConsentReceipt")
        json.set("dct:identifier", receipt.identifier)
        json.set("dct:conformsTo", "https://w3id.org/dpv/schema/dpv-27560#receipt")
        json.set("dct:created", receipt.issuedAt.text)
        json.set("dpv:hasRecordOfActivity", record(receipt, base: base, address: address))
        return json
    }

    private static func record(_ receipt: ConsentReceipt, base: String, address: String) -> JSONValue {
        let record = receipt.consent.record
        var json = JSONValue.object()
        json.set("@id", address)
        json.set("@type", "dpv:ConsentRecord")
        json.set("dct:identifier", record.id.description)
        json.set("dct:conformsTo", "https://w3id.org/dpv/schema/dpv-27560#record")
        json.set("dct:created", record.createdAt.text)
        json.set("dct:modified", receipt.changedAt.text)
        if let newer = record.supersededBy { json.set("dct:isReplacedBy", "\(base)/v1/consents/\(newer)") }
        setParties(of: receipt, in: &json)
        json.set("dpv:hasLegalBasis", "dpv:ExpressedConsent")
        if let reference = record.notice { json.set("dpv:hasNotice", notice(reference, receipt.notice)) }
        json.set("dpv:hasProcess", process(receipt))
        if record.status != .revoked, record.status != .superseded {
            json.set("dpv:hasConsentControl", withdrawal(at: address))
        }
        json.set("dpv:hasConsentStatus", steps(of: receipt))
        setState(of: receipt, in: &json)
        return json
    }

    // MARK: Parties

    private static let subject = "_:subject"
    private static let controller = "_:controller"
    private static let provider = "_:provider"

    /// The person by the merchant's own identifier; the controller where the notice names it.
    private static func setParties(of receipt: ConsentReceipt, in json: inout JSONValue) {
        json.set(
            "dpv:hasDataSubject",
            [
                "@id": JSONValue(subject), "@type": "dpv:DataSubject",
                "dct:identifier": JSONValue(receipt.consent.subject.text),
            ] as JSONValue)
        guard let notice = receipt.notice else { return }
        json.set(
            "dpv:hasDataController",
            [
                "@id": JSONValue(controller), "@type": "dpv:DataController",
                "dpv:hasName": JSONValue(notice.controller),
            ] as JSONValue)
        if let jurisdiction = notice.jurisdiction { json.set("dpv:hasJurisdiction", place(jurisdiction)) }
    }

    /// A code of ISO 3166 (`DE`, `US-CA`, and the vocabulary's `EU`) as the vocabulary's term, other text as it is.
    private static func place(_ text: String) -> JSONValue {
        let isLetter: (UInt8) -> Bool = { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
        let isDigit: (UInt8) -> Bool = { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        let isCountry = parts[0].count == 2 && parts[0].allSatisfy(isLetter)
        let isWhole = parts.count == 1 || parts.count == 2 && (1...3).contains(parts[1].count)
        let isCode = isCountry && isWhole && parts.dropFirst().joined().allSatisfy { isLetter($0) || isDigit($0) }
        return isCode ? ["@id": JSONValue("loc:" + text)] : JSONValue(text)
    }

    // MARK: What was consented to

    /// What people were shown; of a notice that is not configured any more only its name.
    private static func notice(_ reference: NoticeReference, _ known: PrivacyNotice?) -> JSONValue {
        var json = JSONValue.object()
        json.set("@type", "dpv:ConsentNotice")
        json.set("dct:identifier", reference.text)
        // The request named none, and this was the only one configured.
        if reference.isAssumed { json.set("gateway:assumed", true) }
        guard let known else { return json }
        if let digest = known.textSHA256 { json.set("gateway:textSHA256", digest) }
        var documents: [JSONValue] = []
        if let url = known.privacyPolicy {
            documents.append(["@id": JSONValue(url), "@type": "dpv:PrivacyNotice"])
        }
        if let url = known.userAgreement {
            documents.append(["@id": JSONValue(url), "dct:title": "User agreement"])
        }
        if !documents.isEmpty { json.set("dct:references", documents) }
        return json
    }

    private static func process(_ receipt: ConsentReceipt) -> JSONValue {
        let record = receipt.consent.record
        var json = JSONValue.object()
        json.set("@type", "dpv:Process")
        if let notice = receipt.notice, !notice.purposes.isEmpty {
            json.set(
                "dpv:hasPurpose",
                notice.purposes.map { ["@type": "dpv:Purpose", "dct:title": JSONValue($0)] as JSONValue })
        }
        json.set("dpv:hasProcessing", ["dpv:Collect", "dpv:Store"])
        json.set("dpv:hasPersonalData", receipt.categories.map { "pd:" + $0.rawValue })
        var source: JSONValue = [
            "@id": JSONValue(provider), "@type": "dpv:ThirdPartyDataSource",
            "dpv:hasName": JSONValue(record.provider.name),
        ]
        if let environment = record.provider.environment { source.set("gateway:environment", environment) }
        json.set("dpv:hasDataSource", source)
        if receipt.notice != nil { json.set("dpv:hasRecipient", controller) }
        return json
    }

    private static func withdrawal(at address: String) -> JSONValue {
        [
            "@type": "dpv:WithdrawConsent", "dpv:isExercisedAt": JSONValue(address),
            "dct:description": "HTTP DELETE, by the controller's systems on the person's word",
        ]
    }

    // MARK: Its state

    private static func steps(of receipt: ConsentReceipt) -> [JSONValue] {
        let steps = receipt.steps
        let last = steps.indices.last
        return steps.indices.map { step(steps[$0], receipt, isLast: $0 == last) }
    }

    private static func step(_ step: ConsentStep, _ receipt: ConsentReceipt, isLast: Bool) -> JSONValue {
        let record = receipt.consent.record
        var json = JSONValue.object()
        let state = "dpv:" + step.state.rawValue
        json.set("@type", step.state.isGiving ? [state, "dpv:ExpressedConsent"] : [state])
        json.set("dpv:isIndicatedAtTime", step.at.text)
        switch step.state {
        case .given, .renewed, .withdrawn: json.set("dpv:isIndicatedBy", subject)
        case .revoked: json.set("dpv:isIndicatedBy", receipt.notice == nil ? "dpv:DataController" : controller)
        case .expired, .unknown: break
        }
        if step.state.isGiving {
            let app = step.app.map { ", in an app (\($0))" } ?? ""
            json.set("dpv:hasIndicationMethod", "Authorization at the provider \(record.provider.name)\(app)")
        }
        // A later giving may stand under another notice: each keeps the name of its own.
        if let notice = step.notice { json.set("gateway:notice", notice.text) }
        if step.notice?.isAssumed == true { json.set("gateway:assumed", true) }
        if let granted = step.granted { json.set("gateway:scopesGranted", granted.names) }
        if let reason = step.reason { json.set("gateway:reason", reason) }
        if isLast, step.state.isGiving { json.set("dpv:hasDuration", duration(of: record)) }
        return json
    }

    /// A grant that cannot be refreshed ends with its access token; any other is kept until somebody ends it.
    private static func duration(of record: ConsentRecord) -> JSONValue {
        record.isRefreshable
            ? ["@type": "dpv:UntilEventDuration", "rdf:value": "Withdrawal, or the provider's end of the grant"]
            : [
                "@type": "dpv:UntilTimeDuration", "rdf:value": JSONValue(record.timing.accessTokenExpiresAt.text),
            ]
    }

    /// The record's own words, and the end of its chain of events.
    private static func setState(of receipt: ConsentReceipt, in json: inout JSONValue) {
        let record = receipt.consent.record
        json.set("gateway:status", record.status.rawValue)
        if let reason = record.statusReason { json.set("gateway:statusReason", reason.rawValue) }
        json.set("gateway:scopesRequested", record.requested.names)
        json.set("gateway:scopesGranted", record.granted.names)
        json.set(
            "gateway:ledgerHead",
            [
                "gateway:seq": JSONValue(receipt.head.sequence),
                "gateway:mac": JSONValue(Hexadecimal.text(of: receipt.head.mac)),
            ] as JSONValue)
    }
}
