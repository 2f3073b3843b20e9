// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCrypto
import NativeJSON
import RecordRendering
import Testing

@Suite("A consent receipt")
struct ReceiptTests {
    private let sample = ReceiptSample()

    private func text(_ json: JSONValue) -> String { String(decoding: json.serialized(.indented), as: UTF8.self) }

    private func record(_ receipt: ConsentReceipt) throws -> JSONValue {
        try #require(sample.writer.json(of: receipt)["dpv:hasRecordOfActivity"])
    }

    @Test("it is a whole document in the terms of the Data Privacy Vocabulary, without an attribute")
    func whole() throws {
        var json = sample.writer.json(of: try sample.receipt(sample.events))
        let context = try #require(json["@context"])
        #expect(context["dpv"]?.string == "https://w3id.org/dpv#")
        #expect(context["dpv:hasLegalBasis"]?["@type"]?.string == "@id")
        #expect(context["dpv:isIndicatedAtTime"]?["@type"]?.string == "xsd:dateTime")
        json.set("@context", [:] as JSONValue)
        #expect(text(json) == ReceiptSample.document)
    }

    @Test("a withdrawn record tells who withdrew and when, and offers no withdrawal any more")
    func withdrawn() throws {
        for (reason, state, by) in [
            (StatusReason.user, "dpv:ConsentWithdrawn", "_:subject"),
            (.operator, "dpv:ConsentRevoked", "_:controller"),
        ] {
            let receipt = try sample.receipt(sample.events + [sample.revoked(reason)]) {
                $0.record.status = .revoked
                $0.record.statusReason = reason
            }
            let record = try record(receipt)
            let step = try #require(record["dpv:hasConsentStatus"]?.array?.last)
            #expect(step["@type"]?.array?.map(\.string) == [state])
            #expect(step["dpv:isIndicatedBy"]?.string == by)
            #expect(step["dpv:isIndicatedAtTime"]?.string == "2026-01-03T03:04:05Z")
            #expect(step["gateway:reason"]?.string == reason.rawValue)
            #expect(step["dpv:hasDuration"] == nil)
            #expect(record["dpv:hasConsentStatus"]?.array?.allSatisfy { $0["dpv:hasDuration"] == nil } == true)
            #expect(record["gateway:status"]?.string == "revoked")
            #expect(record["gateway:statusReason"]?.string == reason.rawValue)
            #expect(record["dpv:hasConsentControl"] == nil)
            #expect(record["gateway:ledgerHead"]?["gateway:seq"]?.integer == 3)
        }
    }

    @Test("what no notice tells is not made up")
    func withoutNotice() throws {
        let events = [
            sample.event(1, .created, data: ["provider": .text("acme")]),
            sample.event(2, .revoked, data: ["reason": .text("operator")]),
        ]
        let receipt = try sample.receipt(events, notice: nil) {
            $0.record.notice = nil
            $0.record.client = nil
            $0.record.provider = ProviderKey(name: "acme", environment: nil)
            $0.record.granted = ScopeSet(["files:read"])
        }
        let record = try record(receipt)
        for name in ["dpv:hasDataController", "dpv:hasJurisdiction", "dpv:hasNotice", "gateway:statusReason"] {
            #expect(record[name] == nil, "\(name)")
        }
        let process = try #require(record["dpv:hasProcess"])
        #expect(process["dpv:hasPurpose"] == nil)
        #expect(process["dpv:hasRecipient"] == nil)
        #expect(process["dpv:hasPersonalData"]?.count == 0)
        #expect(process["dpv:hasDataSource"]?["gateway:environment"] == nil)
        let steps = try #require(record["dpv:hasConsentStatus"]?.array)
        #expect(steps[0]["dpv:hasIndicationMethod"]?.string == "Authorization at the provider acme")
        #expect(steps[1]["dpv:isIndicatedBy"]?.string == "dpv:DataController")
    }

    @Test("a notice that was assumed says so, and of one that is not configured any more only its name is left")
    func assumedNotice() throws {
        let receipt = try sample.receipt(sample.events, notice: nil) {
            $0.record.notice = NoticeReference(text: "signup@2", isAssumed: true)
        }
        #expect(
            try record(receipt)["dpv:hasNotice"]
                == ["@type": "dpv:ConsentNotice", "dct:identifier": "signup@2", "gateway:assumed": true])
    }

    @Test("a jurisdiction is a term of the vocabulary where it is a code, else the text")
    func jurisdiction() throws {
        for (text, isTerm) in [
            ("DE", true), ("US-CA", true), ("EU", true), ("Germany", false), ("de", false), ("DE-", false),
            ("DE-A-B", false), ("", false), ("D1", false),
        ] {
            var notice = ReceiptSample.notice
            notice.jurisdiction = text
            let record = try record(try sample.receipt(sample.events, notice: notice))
            #expect(record["dpv:hasJurisdiction"] == (isTerm ? ["@id": JSONValue("loc:" + text)] : JSONValue(text)))
        }
    }

    @Test(
        "each event that ends or renews a consent is a step, and no other is",
        arguments: [
            (EventType.renewed, nil, "dpv:RenewedConsentGiven"), (.expired, "no_refresh_token", "dpv:ConsentExpired"),
            (.superseded, nil, "dpv:ConsentExpired"), (.revoked, "retention", "dpv:ConsentRevoked"),
            (.reauthorizationRequired, "provider_rejected", "dpv:ConsentUnknown"),
            (.reauthorizationRequired, "withdrawn_at_provider", "dpv:ConsentWithdrawn"),
            (.refreshed, nil, nil), (.profileRead, nil, nil), (.tokenRevocation, nil, nil),
        ] as [(EventType, String?, String?)])
    func steps(_ type: EventType, _ reason: String?, _ state: String?) throws {
        let event = sample.event(2, type, data: reason.map { ["reason": .text($0)] } ?? [:])
        let record = try record(try sample.receipt([sample.events[0], event]))
        let steps = try #require(record["dpv:hasConsentStatus"]?.array)
        #expect(steps.count == (state == nil ? 1 : 2))
        if let state { #expect(steps.last?["@type"]?.array?.first?.string == state) }
        #expect(record["gateway:ledgerHead"]?["gateway:seq"]?.integer == 2)
    }

    @Test("what was granted and never asked for is no personal data of the consent: nobody reads it")
    func minimal() throws {
        let receipt = try sample.receipt(sample.events) {
            $0.record.granted = ScopeSet(["openid", "email", "address", ClaimName.payPalAttributesScope])
            $0.record.requested = ScopeSet(["openid", "email", "phone"])
        }
        let data = try record(receipt)["dpv:hasProcess"]?["dpv:hasPersonalData"]
        #expect(data?.array?.map(\.string) == ["pd:UID", "pd:EmailAddress"])
    }

    @Test("a consent that was given again keeps the notice and the scopes of each giving, and tells one duration")
    func renewed() throws {
        let again = sample.event(
            2, .renewed,
            data: ["notice": .text("signup@4"), "notice_assumed": .text("true"), "scopes_granted": .text("openid")])
        let record = try record(try sample.receipt([sample.events[0], again]))
        let steps = try #require(record["dpv:hasConsentStatus"]?.array)
        #expect(steps.map { $0["gateway:notice"]?.string } == ["signup@3", "signup@4"])
        #expect(steps.map { $0["gateway:assumed"]?.boolean } == [nil, true])
        #expect(steps.map { $0["gateway:scopesGranted"]?.count } == [2, 1])
        #expect(steps.map { $0["dpv:hasDuration"] == nil } == [true, false])
    }

    @Test("a grant without a refresh token ends with its access token")
    func duration() throws {
        let receipt = try sample.receipt(sample.events) { $0.record.isRefreshable = false }
        #expect(
            try record(receipt)["dpv:hasConsentStatus"]?.array?.last?["dpv:hasDuration"]
                == ["@type": "dpv:UntilTimeDuration", "rdf:value": "2026-01-02T03:19:05Z"])
    }

    @Test("a superseded record names the one that took its place")
    func superseded() throws {
        let newer = try #require(ConsentID("cns_019378f0c0de7000a1b2c3d4e5f60719"))
        let receipt = try sample.receipt(sample.events) {
            $0.record.status = .superseded
            $0.record.supersededBy = newer
        }
        #expect(
            try record(receipt)["dct:isReplacedBy"]?.string
                == "https://gateway.example/v1/consents/cns_019378f0c0de7000a1b2c3d4e5f60719")
    }

    @Test("without an event there is no receipt")
    func noEvent() throws {
        let consent = try sample.receipt(sample.events).consent
        #expect(ConsentReceipt(consent: consent, events: [], notice: nil, issuedAt: sample.moment) == nil)
    }

    @Test("the signed form is a compact JWS over the document, its issuer and its time")
    func token() throws {
        let receipt = try sample.receipt(sample.events)
        let parts = try sample.writer.token(of: receipt).split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let header = try #require(Base64.urlSafe.bytes(of: parts[0]))
        #expect(String(decoding: header, as: UTF8.self) == #"{"alg":"ES256","kid":"ev-1","typ":"consent-receipt+jwt"}"#)
        var expected = sample.writer.json(of: receipt)
        expected.set("iss", "https://gateway.example")
        expected.set("iat", Int64(1_767_495_845))
        let payload = try #require(Base64.urlSafe.bytes(of: parts[1]))
        #expect(try JSONValue.parse(payload, as: .callers) == expected)
        let signature = try #require(Base64.urlSafe.bytes(of: parts[2]))
        #expect(signature == StillSigner.signature(over: Array("\(parts[0]).\(parts[1])".utf8)))
    }

    @Test("the keys are a JWK Set")
    func keySet() {
        #expect(
            String(decoding: sample.writer.keySet().serialized(.compact), as: UTF8.self)
                == #"{"keys":[{"kty":"EC","crv":"P-256","use":"sig","alg":"ES256","kid":"ev-1","#
                + #""x":"AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE","#
                + #""y":"AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI"}]}"#)
    }
}
