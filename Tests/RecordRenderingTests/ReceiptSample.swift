// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCrypto
import RecordRendering
import Testing

/// One consent with its trail, and what its receipt reads.
struct ReceiptSample {
    /// 2026-01-02T03:04:05Z.
    let moment = Instant(milliseconds: 1_767_323_045_000)
    let writer = ReceiptWriter(base: "https://gateway.example", keys: StillKeys())

    static let notice = PrivacyNotice(
        id: "signup", version: "3", controller: "Shop GmbH", privacyPolicy: "https://shop.example/privacy",
        userAgreement: "https://shop.example/terms", textSHA256: String(repeating: "ab", count: 32),
        purposes: ["Sign-up", "Delivery"], jurisdiction: "DE")

    func event(_ sequence: Int64, _ type: EventType, data: EventData = [:]) -> StoredEvent {
        let at = moment.advanced(by: .seconds(sequence == 1 ? 0 : 86_400))
        return StoredEvent(
            sequence: sequence,
            draft: EventDraft(type: type, at: at, caller: "backend", requestID: "r", data: data),
            mac: Array(repeating: UInt8(sequence), count: 32))
    }

    var events: [StoredEvent] {
        [
            event(
                1, .created,
                data: [
                    "app_product": .text("PayPal iOS SDK"), "app_sdk_version": .text("2.18.1"),
                    "app_platform": .text("iOS"), "notice": .text("signup@3"),
                    "scopes_granted": .text("openid email"),
                ]), event(2, .profileRead),
        ]
    }

    func revoked(_ reason: StatusReason) -> StoredEvent { event(3, .revoked, data: ["reason": .text(reason.rawValue)]) }

    func receipt(
        _ events: [StoredEvent], notice: PrivacyNotice? = ReceiptSample.notice,
        _ change: (inout OpenedConsent) -> Void = { _ in }
    ) throws -> ConsentReceipt {
        let id = try #require(ConsentID("cns_019378f0c0de7000a1b2c3d4e5f60718"))
        let record = ConsentRecord(
            id: id, provider: ProviderKey(name: "paypal", environment: "sandbox"),
            issuer: IssuingClient(clientID: "client", tokenEndpoint: "https://provider.example/token"),
            requested: ScopeSet(["openid", "email", "phone"]), granted: ScopeSet(["openid", "email"]),
            profileStatus: .current, profileFetchedAt: moment, generation: 1,
            timing: TokenTiming(
                issuedAt: moment, accessTokenExpiresAt: moment.advanced(by: .seconds(900)), refreshTokenExpiresAt: nil,
                dueAt: nil),
            isRefreshable: true, client: nil, notice: NoticeReference(text: "signup@3", isAssumed: false),
            createdAt: moment, updatedAt: moment)
        var consent = OpenedConsent(
            record: record, subject: try #require(Subject("user-42")), providerSubject: SecretText("sub-1"),
            profile: nil)
        change(&consent)
        return try #require(
            ConsentReceipt(
                consent: consent, events: events, notice: notice, issuedAt: moment.advanced(by: .seconds(172_800))))
    }

    static let document = """
        {
          "@context": {},
          "@id": "https://gateway.example/v1/consents/cns_019378f0c0de7000a1b2c3d4e5f60718/receipt",
          "@type": "dpv:ConsentReceipt",
          "dct:identifier": "cns_019378f0c0de7000a1b2c3d4e5f60718-2",
          "dct:conformsTo": "https://w3id.org/dpv/schema/dpv-27560#receipt",
          "dct:created": "2026-01-04T03:04:05Z",
          "dpv:hasRecordOfActivity": {
            "@id": "https://gateway.example/v1/consents/cns_019378f0c0de7000a1b2c3d4e5f60718",
            "@type": "dpv:ConsentRecord",
            "dct:identifier": "cns_019378f0c0de7000a1b2c3d4e5f60718",
            "dct:conformsTo": "https://w3id.org/dpv/schema/dpv-27560#record",
            "dct:created": "2026-01-02T03:04:05Z",
            "dct:modified": "2026-01-02T03:04:05Z",
            "dpv:hasDataSubject": {
              "@id": "_:subject",
              "@type": "dpv:DataSubject",
              "dct:identifier": "user-42"
            },
            "dpv:hasDataController": {
              "@id": "_:controller",
              "@type": "dpv:DataController",
              "dpv:hasName": "Shop GmbH"
            },
            "dpv:hasJurisdiction": {
              "@id": "loc:DE"
            },
            "dpv:hasLegalBasis": "dpv:ExpressedConsent",
            "dpv:hasNotice": {
              "@type": "dpv:ConsentNotice",
              "dct:identifier": "signup@3",
              "gateway:textSHA256": "abababababababababababababababababababababababababababababababab",
              "dct:references": [
                {
                  "@id": "https://shop.example/privacy",
                  "@type": "dpv:PrivacyNotice"
                },
                {
                  "@id": "https://shop.example/terms",
                  "dct:title": "User agreement"
                }
              ]
            },
            "dpv:hasProcess": {
              "@type": "dpv:Process",
              "dpv:hasPurpose": [
                {
                  "@type": "dpv:Purpose",
                  "dct:title": "Sign-up"
                },
                {
                  "@type": "dpv:Purpose",
                  "dct:title": "Delivery"
                }
              ],
              "dpv:hasProcessing": [
                "dpv:Collect",
                "dpv:Store"
              ],
              "dpv:hasPersonalData": [
                "pd:UID",
                "pd:EmailAddress"
              ],
              "dpv:hasDataSource": {
                "@id": "_:provider",
                "@type": "dpv:ThirdPartyDataSource",
                "dpv:hasName": "paypal",
                "gateway:environment": "sandbox"
              },
              "dpv:hasRecipient": "_:controller"
            },
            "dpv:hasConsentControl": {
              "@type": "dpv:WithdrawConsent",
              "dpv:isExercisedAt": "https://gateway.example/v1/consents/cns_019378f0c0de7000a1b2c3d4e5f60718",
              "dct:description": "HTTP DELETE, by the controller's systems on the person's word"
            },
            "dpv:hasConsentStatus": [
              {
                "@type": [
                  "dpv:ConsentGiven",
                  "dpv:ExpressedConsent"
                ],
                "dpv:isIndicatedAtTime": "2026-01-02T03:04:05Z",
                "dpv:isIndicatedBy": "_:subject",
                "dpv:hasIndicationMethod": "Authorization at the provider paypal, in an app (PayPal iOS SDK 2.18.1, iOS)",
                "gateway:notice": "signup@3",
                "gateway:scopesGranted": [
                  "openid",
                  "email"
                ],
                "dpv:hasDuration": {
                  "@type": "dpv:UntilEventDuration",
                  "rdf:value": "Withdrawal, or the provider's end of the grant"
                }
              }
            ],
            "gateway:status": "active",
            "gateway:scopesRequested": [
              "openid",
              "email",
              "phone"
            ],
            "gateway:scopesGranted": [
              "openid",
              "email"
            ],
            "gateway:ledgerHead": {
              "gateway:seq": 2,
              "gateway:mac": "0202020202020202020202020202020202020202020202020202020202020202"
            }
          }
        }
        """
}

struct StillKeys: EvidenceKeys {
    var evidenceSigner: any EvidenceSigner { StillSigner() }
}

/// Signs with a digest in the place of a signature: what is signed is what these tests look at.
struct StillSigner: EvidenceSigner {
    let keyID = "ev-1"
    static func signature(over message: [UInt8]) -> [UInt8] { sha256(message) + sha256(message.reversed()) }
    func signature(over message: [UInt8]) throws(VaultFailure) -> [UInt8] { StillSigner.signature(over: message) }
    let publicKeys = [
        EvidencePublicKey(
            keyID: "ev-1", x: Array(repeating: 1, count: 32), y: Array(repeating: 2, count: 32))
    ]
    func verdict(on signature: [UInt8], over message: [UInt8], keyID: String) -> SignatureVerdict {
        signature == StillSigner.signature(over: message) ? .holds : .fails
    }
}
