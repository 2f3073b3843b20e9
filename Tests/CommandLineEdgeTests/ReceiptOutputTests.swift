// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents
import NativeJSON
import RecordRendering
import Testing

@Suite("A receipt on the command line")
struct ReceiptOutputTests {
    private let writer = ReceiptWriter(base: "https://gateway.example", keys: NoKeys())

    private func receipt(_ reference: NoticeReference?, _ notice: PrivacyNotice?) throws -> ConsentReceipt {
        let moment = Instant(milliseconds: 1_767_323_045_000)
        let later = moment.advanced(by: .seconds(3600))
        let id = try #require(ConsentID("cns_019378f0c0de7000a1b2c3d4e5f60718"))
        let record = ConsentRecord(
            id: id, provider: ProviderKey(name: "paypal", environment: "sandbox"),
            issuer: IssuingClient(clientID: "client", tokenEndpoint: "https://provider.example/token"),
            status: .revoked, statusReason: .user, requested: ScopeSet(["openid", "email"]),
            granted: ScopeSet(["openid", "email"]), profileStatus: .current, profileFetchedAt: moment, generation: 1,
            timing: TokenTiming(
                issuedAt: moment, accessTokenExpiresAt: moment, refreshTokenExpiresAt: nil, dueAt: nil),
            isRefreshable: false, client: nil, notice: reference, createdAt: moment, updatedAt: later)
        let events = [
            EventDraft(
                type: .created, at: moment, caller: "backend", requestID: nil,
                data: [
                    "app_product": .text("Shop\u{1B}[2J"), "app_platform": .text("iOS"), "notice": .text("signup@3"),
                ]),
            EventDraft(type: .revoked, at: later, caller: "backend", requestID: nil, data: ["reason": .text("user")]),
        ]
        let consent = OpenedConsent(
            record: record, subject: try #require(Subject("user-42")), providerSubject: nil, profile: nil)
        return try #require(
            ConsentReceipt(
                consent: consent,
                events: events.enumerated().map {
                    StoredEvent(sequence: Int64($0 + 1), draft: $1, mac: Array(repeating: 0xab, count: 32))
                }, notice: notice, issuedAt: later))
    }

    private let notice = PrivacyNotice(
        id: "signup", version: "3", controller: "Shop GmbH", privacyPolicy: "https://shop.example/privacy",
        userAgreement: "https://shop.example/terms", textSHA256: String(repeating: "cd", count: 32),
        purposes: ["Sign-up", "Delivery"], jurisdiction: "DE")

    @Test("for people it is a table of what was agreed and what became of it")
    func table() throws {
        let receipt = try receipt(NoticeReference(text: "signup@3", isAssumed: true), notice)
        #expect(
            ReceiptOutput.receipt(receipt, from: writer, json: false).text == """
                Receipt cns_019378f0c0de7000a1b2c3d4e5f60718-2
                  issued          2026-01-02T04:04:05Z
                  consent         cns_019378f0c0de7000a1b2c3d4e5f60718
                  subject         user-42
                  controller      Shop GmbH
                  provider        paypal (sandbox)
                  notice          signup@3 (assumed)
                  privacy policy  https://shop.example/privacy
                  user agreement  https://shop.example/terms
                  text shown      SHA-256 cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd
                  purposes        Sign-up; Delivery
                  jurisdiction    DE
                  scopes granted  openid email
                  personal data   UID, EmailAddress
                  given           2026-01-02T03:04:05Z under signup@3 in an app (Shop?[2J, iOS)
                  withdrawn       2026-01-02T04:04:05Z (user)
                  status          revoked (user)
                  ledger          event 2, mac abababababababababababababababababababababababababababababababab

                """)
    }

    @Test("what is not known is called so")
    func unknown() throws {
        let gone = NoticeReference(text: "signup@2", isAssumed: false)
        let text = ReceiptOutput.receipt(try receipt(gone, nil), from: writer, json: false).text
        for line in [
            "  controller      not known\n", "  notice          signup@2, not configured any more\n",
            "  purposes        not known\n", "  jurisdiction    not known\n",
        ] { #expect(text.contains(line), "\(line)") }
        let none = ReceiptOutput.receipt(try receipt(nil, nil), from: writer, json: false).text
        #expect(none.contains("  notice          none was named\n"))
    }

    @Test("as JSON it is the API's document, and a signed one stands alone on its line")
    func programs() throws {
        let receipt = try receipt(nil, nil)
        let text = ReceiptOutput.receipt(receipt, from: writer, json: true).text
        #expect(try JSONValue.parse(Array(text.utf8), as: .callers) == writer.json(of: receipt))
        #expect(ReceiptOutput.token("a.b.c", json: false).text == "a.b.c\n")
        #expect(ReceiptOutput.token("a.b.c", json: true).text == "{\n  \"jwt\": \"a.b.c\"\n}\n")
    }
}

private struct NoKeys: EvidenceKeys, EvidenceSigner {
    var evidenceSigner: any EvidenceSigner { self }
    var keyID: String { "none" }
    var publicKeys: [EvidencePublicKey] { [] }
    func signature(over message: [UInt8]) throws(VaultFailure) -> [UInt8] { throw .keyMissing(keyID: keyID) }
    func verdict(on signature: [UInt8], over message: [UInt8], keyID: String) -> SignatureVerdict { .keyUnknown }
}
