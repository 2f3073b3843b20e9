// SPDX-License-Identifier: Apache-2.0
import Consents
import Testing

@testable import ProviderClients

@Suite("Userinfo")
struct ProfileReaderTests {
    private func read(_ answer: ProviderAnswer) -> ProfileOutcome {
        ProfileReader(Definitions.claims, Definitions.payPalRules).read(answer, sent: [SecretText("A1-access")])
    }

    private func profile(_ body: String, type: String? = "application/json") -> Profile? {
        if case .fetched(let profile) = read(ProviderAnswer(200, body, type: type)) { profile } else { nil }
    }

    private let payPalUser = "https://www.paypal.com/webapps/auth/identity/user/jG8zVpn2toXC"

    @Test("PayPal's documented answer in the schema openid")
    func payPalOpenID() {
        let body = """
            {"address":{"postal_code":"95131","locality":"San Jose","region":"CA","country":"US",
            "street_address":"3 Main St"},"family_name":"Smith","language":"en_US","phone_number":"4082560980",
            "locale":"en_US","name":"Roger Smith","email":"rsmith@somewhere.test","account_type":"PERSONAL",
            "birthday":"1982-08-02","given_name":"Roger","user_id":"\(payPalUser)"}
            """
        #expect(
            profile(body)
                == Profile(
                    claims: [
                        .sub: .text(payPalUser), .name: .text("Roger Smith"), .givenName: .text("Roger"),
                        .familyName: .text("Smith"), .locale: .text("en_US"), .email: .text("rsmith@somewhere.test"),
                        .phoneNumber: .text("4082560980"), .birthdate: .text("1982-08-02"),
                        .accountType: .text("PERSONAL"),
                    ],
                    address: [
                        .streetAddress: "3 Main St", .locality: "San Jose", .region: "CA", .postalCode: "95131",
                        .country: "US",
                    ]))
    }

    @Test("PayPal's answer in the schema paypalv1.1", arguments: [#""true""#, "true", #""TRUE""#, "1"])
    func payPalNewer(verified: String) {
        let body = """
            {"user_id":"\(payPalUser)","name":"identity test","given_name":"identity","family_name":"test",
            "payer_id":"WDJJHEBZ4X2LY","address":{"street_address":"1 Main St","locality":"San Jose","region":"CA",
            "postal_code":"95131","country":"US"},"verified_account":\(verified),
            "emails":[{"value":"old@x.test","confirmed":true},{"value":"user1@x.test","primary":true,"confirmed":true}]}
            """
        let claims = profile(body)?.claims
        #expect(claims?[.sub] == .text(payPalUser) && claims?[.payerID] == .text("WDJJHEBZ4X2LY"))
        #expect(claims?[.email] == .text("user1@x.test") && claims?[.emailVerified] == .flag(true))
        #expect(claims?[.verifiedAccount] == .flag(true))
    }

    @Test(
        "a list of addresses is read by its primary one, else its first, and odd lists cost nothing",
        arguments: [
            (#"[{"value":"a@x.test","primary":true,"confirmed":"false"}]"#, "a@x.test", false),
            (#"[{"value":"a@x.test"},{"value":"b@x.test","primary":"true","confirmed":true}]"#, "b@x.test", true),
            (#"[{"value":"a@x.test"},{"value":"b@x.test"}]"#, "a@x.test", nil), ("[]", nil, nil), (#"["a"]"#, nil, nil),
            ("[7]", nil, nil), ("{}", nil, nil), ("null", nil, nil),
            (#"{"value":"a@x.test","confirmed":true}"#, "a@x.test", true),
        ] as [(String, String?, Bool?)])
    func emails(list: String, email: String?, isVerified: Bool?) {
        let claims = profile(#"{"sub":"u1","emails":\#(list)}"#)?.claims
        #expect(claims?[.email] == email.map(ClaimValue.text))
        #expect(claims?[.emailVerified] == isVerified.map(ClaimValue.flag))
    }

    @Test(
        "an OpenID answer is read as it is, its phone number raw",
        arguments: [
            "4082560980", "+1 (408) 256-0980;ext=5", "+4930123456",
        ])
    func openID(phone: String) {
        let body =
            #"{"sub":"248289761001","phone_number":"\#(phone)","email_verified":"true","updated_at":1311280970.5}"#
        let claims = profile(body, type: "Application/JSON;Charset=\"utf-8\"")?.claims
        #expect(claims?[.sub] == .text("248289761001") && claims?[.phoneNumber] == .text(phone))
        #expect(claims?[.emailVerified] == .flag(true) && claims?[.updatedAt] == .integer(1_311_280_970))
    }

    @Test(
        "an address may be a text or an object, with odd parts",
        arguments: [
            (#""1 Main St\nSan Jose""#, [.formatted: "1 Main St\nSan Jose"]),
            (
                #"{"formatted":"1 Main St","postal_code":95131,"region":null,"country":""}"#,
                [.formatted: "1 Main St", .postalCode: "95131"]
            ),
            ("7", [:]), ("[]", [:]), ("{}", [:]), (#""""#, [:]), ("null", [:]), ("true", [:]),
        ] as [(String, [AddressPart: String])])
    func address(text: String, parts: [AddressPart: String]) {
        #expect(profile(#"{"sub":"u1","address":\#(text)}"#)?.address == parts)
    }

    @Test("values of the wrong kind are left out, numbers in texts are taken, the last of two counts")
    func oddValues() {
        let body = """
            {"sub":"u0","sub":42,"name":{"first":"Ada"},"given_name":"a\\u0000b","family_name":"\\ud800",
            "locale":"","email":"  ","phone_number":4082560980,"email_verified":"yes","updated_at":"1e400",
            "phone_number_verified":7,"account_type":1e400,"payer_id":"\u{202E}\u{1F468}\u{200D}\u{1F469}"}
            """
        #expect(
            profile(body)?.claims == [
                .sub: .text("42"), .phoneNumber: .text("4082560980"),
                .payerID: .text("\u{202E}\u{1F468}\u{200D}\u{1F469}"),
            ])
    }

    @Test("`sub` is preferred to `user_id`, and an empty one is none")
    func subject() {
        #expect(profile(#"{"user_id":"u2","sub":"u1"}"#)?.claims[.sub] == .text("u1"))
        #expect(profile(#"{"user_id":"u2","sub":""}"#)?.claims[.sub] == .text("u2"))
    }

    @Test("a text with U+0000 in it is nobody's identifier, name or address")
    func nullCharacter() {
        let body = #"{"sub":"u\u00001","user_id":"u2","address":{"locality":"b\u0000","country":"DE"},"name":"\u0000"}"#
        #expect(profile(body) == Profile(claims: [.sub: .text("u2")], address: [.country: "DE"]))
    }

    @Test("aggregated and distributed claims are left where they are")
    func foreignClaims() {
        let body = """
            {"sub":"u1","_claim_names":{"address":"s1","email":"s2"},"_claim_sources":{"s1":{"JWT":"e30.e30."},
            "s2":{"endpoint":"http://127.0.0.1:8080/x","access_token":"t"}}}
            """
        #expect(profile(body) == Profile(claims: [.sub: .text("u1")]))
    }

    @Test("a byte-order mark and a wrong label cost nothing")
    func labels() {
        #expect(profile("\u{FEFF}{\"sub\":\"u1\"}", type: "text/html")?.claims[.sub] == .text("u1"))
        #expect(profile(#"{"sub":"u1"}"#, type: nil)?.claims[.sub] == .text("u1"))
    }

    @Test("401 and 403 are refusals, and 400 where the token is named", arguments: [400, 401, 403])
    func refused(status: Int) {
        let body = #"{"error":"invalid_token","error_description":"A1-access is over","debug_id":"d1"}"#
        guard case .refused(let statement) = read(ProviderAnswer(status, body)) else {
            Issue.record("not refused")
            return
        }
        #expect(statement.status == status && statement.error == "invalid_token" && statement.correlationID == "d1")
        #expect(statement.errorDescription?.contains("A1-access") == false)
    }

    @Test(
        "anything else is to be tried again",
        arguments: [
            (200, ""), (200, "{}"), (200, "[]"), (200, "null"), (200, "sub=u1"), (200, "<html>"),
            (200, #"{"sub":"u1""#),
            (200, #"{"error":"server_error"}"#), (200, #"{"sub":null,"email":7.5}"#), (204, ""), (302, ""), (400, ""),
            // A firewall's page is not the provider's word.
            (401, "<html>"), (403, "<!DOCTYPE html>"), (404, #"{"sub":"u1"}"#), (429, ""), (500, #"{"sub":"u1"}"#),
            (503, ""),
        ])
    func failed(status: Int, body: String) {
        guard case .failed(let statement) = read(ProviderAnswer(status, body)) else {
            Issue.record("not failed")
            return
        }
        #expect(statement.status == status)
    }

    @Test(
        "a signed answer is not believed, whatever its label",
        arguments: [
            ("application/jwt; charset=ISO-8859-1", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ1MSJ9."),
            ("application/json", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ1MSJ9."), ("application/jwt", #"{"sub":"u1"}"#),
        ])
    func signed(type: String, body: String) {
        guard case .failed(let statement) = read(ProviderAnswer(200, body, type: type)) else {
            Issue.record("not failed")
            return
        }
        #expect(statement.errorDescription == "the answer is a signed JWT" && statement.error == nil)
    }

    @Test(
        "a rule for what is no claim is no rule",
        arguments: [
            ("nonsense", ["a"], ClaimRule.Form.text), ("address", ["a"], .text), ("email", ["a"], .address),
            ("email", [], .text), ("email", [""], .text), ("email", ["a..b"], .text), ("email", ["a[b"], .text),
            ("email", ["a[]"], .text), ("email", ["a[b]c"], .text), ("email", ["a[b][c]"], .text),
        ])
    func rules(claim: String, from: [String], form: ClaimRule.Form) {
        #expect(ClaimRule(claim: claim, from: from, form: form) == nil)
    }

    @Test("an identifier or attribute that is absurdly long is left out, and the others stay")
    func longTexts() throws {
        let (identifier, name) = (String(repeating: "i", count: 1025), String(repeating: "n", count: 65_537))
        let body = #"{"sub":"\#(identifier)","user_id":"u1","name":"\#(name)","email":"a@x.test"}"#
        let outcome = ProfileReader(Definitions.claims, Definitions.payPalRules).read(
            ProviderAnswer(200, body), sent: [])
        guard case .fetched(let profile) = outcome else {
            Issue.record("no profile")
            return
        }
        #expect(profile.claims == [.sub: .text("u1"), .email: .text("a@x.test")])
    }

    @Test("a text that repeats the access token is left out, and the others stay")
    func repeatedToken() throws {
        let body =
            #"{"sub":"x-canary-access-1-y","user_id":"u1","name":"canary-access-1","address":{"locality":"canary-access-1","country":"DE"}}"#
        let outcome = ProfileReader(Definitions.claims, Definitions.payPalRules).read(
            ProviderAnswer(200, body), sent: [SecretText("canary-access-1")])
        guard case .fetched(let profile) = outcome else {
            Issue.record("no profile")
            return
        }
        #expect(profile.claims == [.sub: .text("u1")] && profile.address == [.country: "DE"])
    }
}
