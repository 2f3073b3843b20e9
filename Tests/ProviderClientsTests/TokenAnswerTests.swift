// SPDX-License-Identifier: Apache-2.0
import Consents
import Testing

@testable import ProviderClients

@Suite("Token answers that bring tokens")
struct TokenAnswerTests {
    private func read(_ answer: ProviderAnswer, _ rules: AnswerRules = Definitions.payPalRules) -> TokenAnswer? {
        TokenReader(rules).read(answer, to: .refresh, sent: [], now: newYear).granted
    }

    @Test("PayPal's documented answer to an SDK code is read whole")
    func payPalCode() {
        let answer = read(
            ProviderAnswer(
                200,
                #"{"access_token":"6oyryV79E.Kt","expires_in":900,"refresh_token":"MFYQ_Jdz-w0","#
                    + #""scope":"https://api.paypal.com/v1/payments/.* openid email","token_type":"Bearer"}"#))
        #expect(
            answer
                == TokenAnswer(
                    tokens: TokenSet(
                        accessToken: SecretText("6oyryV79E.Kt"), tokenType: "Bearer",
                        refreshToken: SecretText("MFYQ_Jdz-w0"), idToken: nil),
                    scopes: ScopeSet(["https://api.paypal.com/v1/payments/.*", "openid", "email"]), expiresIn: 900,
                    refreshTokenExpiresIn: nil))
    }

    @Test(
        "PayPal's answers without a refresh token or an ID token are grants",
        arguments: [
            (#"{"access_token":"A2","token_type":"Bearer","expires_in":"900","app_id":"APP-1"}"#, 900),
            (
                #"{"scope":"openid","access_token":"A","token_type":"Bearer","app_id":"APP-1","expires_in":28800,"#
                    + #""nonce":"2026-01-01T00:00:00Zx"}"#, 28_800
            ),
        ])
    func payPalRefresh(body: String, seconds: Int64) throws {
        let answer = try #require(read(ProviderAnswer(200, body)))
        #expect(answer.tokens.refreshToken == nil && answer.tokens.idToken == nil)
        #expect(answer.expiresIn == seconds && answer.oddities == [])
    }

    @Test(
        "a lifetime is read from any kind of number, and unknown where it is none",
        arguments: [
            ("900", 900), (#""28800""#, 28_800), (#"" 900 ""#, 900), ("3600.9", 3600), ("9e2", 900),
            (#""3.6e3""#, 3600),
            ("315360000", 315_360_000), ("0", nil), ("-1", nil), ("1e400", nil), ("1e30", nil), ("-1e30", nil),
            ("0.5", nil), ("9223372036854775808", nil), (#""""#, nil), (#""soon""#, nil), (#""0x384""#, nil),
            (#""nan""#, nil), (#""inf""#, nil), ("null", nil), ("true", nil), ("[900]", nil), ("{}", nil),
            ("400000000", nil), (#""1e999""#, nil), (#""９００""#, nil),
        ] as [(String, Int64?)])
    func lifetime(text: String, seconds: Int64?) throws {
        let body = #"{"access_token":"A","token_type":"bearer","refresh_token":"R","expires_in":\#(text)}"#
        let answer = try #require(read(ProviderAnswer(200, body)))
        #expect(answer.expiresIn == seconds)
        #expect(answer.tokens.refreshToken == SecretText("R"))
        #expect(answer.oddities == (seconds == nil ? ["lifetime_unusable"] : []))
    }

    @Test(
        "`expires` stands in for `expires_in`, and neither is a lifetime unknown",
        arguments: [
            (#""expires":5183999"#, 5_183_999, ["lifetime_in_expires"]), (#""expires":1767225600"#, nil, []),
            (#""expires":60,"expires_in":null"#, 60, ["lifetime_in_expires"]),
            (#""expires":60,"expires_in":900"#, 900, []),
            (#""app_id":"x""#, nil, []),
        ] as [(String, Int64?, [String])])
    func expires(member: String, seconds: Int64?, oddities: [String]) throws {
        let answer = try #require(
            read(ProviderAnswer(200, #"{"access_token":"A","token_type":"bearer",\#(member)}"#)))
        #expect(answer.expiresIn == seconds && answer.oddities == oddities)
    }

    @Test(
        "a refresh token's own life is read where it is told and no less than a minute",
        arguments: [
            (#""refresh_token_expires_in":86400"#, 86_400), (#""refresh_expires_in":"1800""#, 1800),
            (#""refresh_expires_in":1"#, nil), (#""refresh_token_expires_in":0,"refresh_expires_in":600"#, 600),
            (#""refresh_token_expires_in":59"#, nil), (#""refresh_token_expires_in":1e30"#, nil), (#""x":1"#, nil),
        ] as [(String, Int64?)])
    func refreshLife(member: String, seconds: Int64?) throws {
        let answer = try #require(
            read(ProviderAnswer(200, #"{"access_token":"A","expires_in":3600,"refresh_token":"R",\#(member)}"#)))
        #expect(answer.refreshTokenExpiresIn == seconds)
    }

    @Test(
        "a type is Bearer in any case and where none is told",
        arguments: [
            (#""token_type":"bearer","#, "Bearer", []), (#""token_type":"BEARER","#, "Bearer", []),
            ("", "Bearer", ["token_type_missing"]), (#""token_type":"","#, "Bearer", ["token_type_missing"]),
            (#""token_type":7,"#, "Bearer", ["token_type_missing"]),
            (#""token_type":"DPoP","#, "DPoP", ["token_type_other"]),
        ])
    func tokenType(member: String, type: String, oddities: [String]) throws {
        let answer = try #require(
            read(ProviderAnswer(200, #"{\#(member)"access_token":"A","scope":"x","expires_in":86399}"#)))
        #expect(answer.tokens.tokenType == type && answer.oddities == oddities)
    }

    @Test(
        "scopes come in many shapes",
        arguments: [
            (#""openid email""#, ["openid", "email"]), (#""openid,email""#, ["openid", "email"]),
            (#"["openid","user:read:email"]"#, ["openid", "user:read:email"]),
            (#"["openid email",7]"#, ["openid", "email"]),
            (#""a,b c""#, ["a,b", "c"]), (#""openid+email""#, ["openid", "email"]), (#""a+b,c""#, ["a+b", "c"]),
            (#""a+b c""#, ["a+b", "c"]), (#"" openid  openid\temail ""#, ["openid", "email"]),
            (
                #""https://uri.paypal.com/services/payments/futurepayments openid""#,
                ["https://uri.paypal.com/services/payments/futurepayments", "openid"]
            ),
            (#""""#, nil), (#"" ,""#, nil), ("[]", nil), ("null", nil), ("7", nil), ("{}", nil),
        ] as [(String, [String]?)])
    func scope(text: String, names: [String]?) throws {
        let answer = try #require(read(ProviderAnswer(200, #"{"access_token":"A","scope":\#(text)}"#)))
        #expect(answer.scopes?.names == names)
    }

    @Test(
        "a scope that repeats what was sent or came with it, or that can be none, is left out and costs nothing else",
        arguments: [
            "the-code-1234", "x-the-code-1234-y", "dGhlLWNvZGUtMTIzNA", "the%2Dcode-1234", "new-access-1",
            "new-refresh-1",
            "with\\u0000nul", "with\\u001bescape", #"quo\"te"#, #"back\\slash"#, "ümlaut",
            String(repeating: "x", count: 201),
        ])
    func scopeLeftOut(name: String) throws {
        let body =
            #"{"access_token":"new-access-1","refresh_token":"new-refresh-1","scope":["openid","\#(name)","read:x"]}"#
        let outcome = TokenReader(Definitions.payPalRules).read(
            ProviderAnswer(200, body), to: .code, sent: [SecretText("the-code-1234")], now: newYear)
        let answer = try #require(outcome.granted)
        #expect(
            answer.scopes?.names == ["openid", "read:x"] && answer.oddities == ["token_type_missing", "scope_left_out"])
        #expect(answer.tokens.refreshToken == SecretText("new-refresh-1"))
    }

    @Test("of more scopes than a provider has the first are kept, in no time")
    func manyScopes() throws {
        let names = (0..<60_000).map { "scope-\($0)" }
        let body = #"{"access_token":"A","scope":"\#(names.joined(separator: " "))"}"#
        let answer = try #require(read(ProviderAnswer(200, body)))
        #expect(answer.scopes?.names == Array(names.prefix(200)) && answer.oddities.contains("scope_left_out"))
    }

    @Test("a token type that repeats what was sent is taken as Bearer", arguments: ["the-code-1234", "two words"])
    func oddTokenType(type: String) throws {
        let outcome = TokenReader(Definitions.payPalRules).read(
            ProviderAnswer(200, #"{"access_token":"A","token_type":"\#(type)"}"#), to: .code,
            sent: [SecretText("the-code-1234")], now: newYear)
        #expect(outcome.granted?.tokens.tokenType == "Bearer")
    }

    @Test(
        "empty, blank and odd refresh and ID tokens are none",
        arguments: [
            #""refresh_token":"","id_token":"""#, #""refresh_token":"  ","id_token":" ""#,
            #""refresh_token":null,"id_token":null"#, #""refresh_token":{},"id_token":[]"#,
            #""refresh_token":false,"id_token":true"#, #""x":"refresh_token""#,
        ])
    func noTokens(members: String) throws {
        let tokens = try #require(read(ProviderAnswer(200, #"{"access_token":"A",\#(members)}"#))).tokens
        #expect(tokens.refreshToken == nil && tokens.idToken == nil)
    }

    @Test(
        "a rotated token is not lost to odd neighbours",
        arguments: [
            #"{"access_token":"A","refresh_token":"R","expires_in":1e400}"#,
            #"{"n":123456789012345678901234567890,"access_token":"A","x":"\ud800","refresh_token":"R"}"#,
            #"{"access_token":"A","name":"a\u0000b","refresh_token":"R","links":[[[]]]}"#,
            #"{"refresh_token":"R0","access_token":"A0","access_token":"A","refresh_token":"R"}"#,
            #"{"access_token":"A","refresh_token":"R","id_token":"e30.e30.AA","error":"none"}"#,
        ])
    func oddNeighbours(body: String) throws {
        let tokens = try #require(read(ProviderAnswer(200, body))).tokens
        #expect(tokens.accessToken == SecretText("A") && tokens.refreshToken == SecretText("R"))
    }

    @Test(
        "a body is read for what it is, whatever its label",
        arguments: [
            ("access_token=A&expires=5183999&scope=a%2Cb", "text/plain", ["lifetime_in_expires", "form_encoded"]),
            ("access_token=A&expires_in=5183999&scope=a,b", "application/x-www-form-urlencoded", ["form_encoded"]),
            ("\naccess_token=A&expires_in=5183999&scope=a+b\r\n", nil, ["form_encoded"]),
            (#"{"access_token":"A","expires_in":5183999,"scope":"a b"}"#, "text/html", ["wrong_content_type"]),
            (#"{"access_token":"A","expires_in":5183999,"scope":"a b"}"#, nil, ["wrong_content_type"]),
            (
                "\u{FEFF}{\"access_token\":\"A\",\"expires_in\":5183999,\"scope\":\"a b\"}", "application/json",
                ["byte_order_mark"]
            ),
            (
                "  {\"access_token\":\"A\",\"expires_in\":5183999,\"scope\":\"a b\"}\n",
                "Application/JSON;Charset=\"utf-8\"",
                []
            ),
        ] as [(String, String?, [String])])
    func labels(body: String, type: String?, oddities: [String]) throws {
        let answer = try #require(read(ProviderAnswer(200, body, type: type)))
        #expect(answer.tokens.accessToken == SecretText("A"))
        #expect(answer.expiresIn == 5_183_999 && answer.scopes?.names == ["a", "b"])
        #expect(Set(answer.oddities) == Set(oddities + ["token_type_missing"]))
    }

    @Test("any 2xx may bring tokens", arguments: [200, 201, 202, 203, 206, 299])
    func anySuccess(status: Int) throws {
        let answer = try #require(read(ProviderAnswer(status, #"{"access_token":"A","token_type":"bearer"}"#)))
        #expect(answer.oddities == (status == 200 ? [] : ["status_other_than_200"]))
    }

    @Test("tokens that stand deeper are found where the rules say")
    func nested() throws {
        var rules = Definitions.genericRules
        for name in ["access_token", "refresh_token", "expires_in"] {
            rules.tokenMembers[name] = JSONPointer("/authed_user/\(name)")
        }
        let body = #"{"ok":true,"authed_user":{"access_token":"A","refresh_token":"R","expires_in":43200}}"#
        let answer = try #require(read(ProviderAnswer(200, body), rules))
        #expect(answer.tokens.refreshToken == SecretText("R") && answer.expiresIn == 43_200)
        // At the top stands another's token, such as the app's own.
        #expect(read(ProviderAnswer(200, #"{"access_token":"A"}"#), rules) == nil)
        let both = #"{"access_token":"B","scope":"top","authed_user":{"access_token":"A"}}"#
        let found = try #require(read(ProviderAnswer(200, both), rules))
        #expect(found.tokens.accessToken == SecretText("A") && found.scopes?.names == ["top"])
        rules.tokenMembers = ["access_token": try #require(JSONPointer("/results/0/a~1b~0c"))]
        #expect(read(ProviderAnswer(200, #"{"results":[{"a/b~c":"A"}]}"#), rules) != nil)
        for text in ["", "access_token", "/a~2", "/a~"] { #expect(JSONPointer(text) == nil, "\(text)") }
        #expect(read(ProviderAnswer(200, body)) == nil)
    }

    @Test("a provider that counts in milliseconds is believed")
    func milliseconds() throws {
        var rules = Definitions.genericRules
        rules.lifetimeUnit = .milliseconds
        let answer = try #require(read(ProviderAnswer(200, #"{"access_token":"A","expires_in":3600000}"#), rules))
        #expect(answer.expiresIn == 3600)
    }

    @Test(
        "a 2xx in which no token can be read is kept whole",
        arguments: [
            "", "{}", "[]", "null", #"{"access_token":""}"#, #"{"access_token":" "}"#, #"{"access_token":null}"#,
            #"{"access_token":"A","refresh_token":"R""#, #""A""#, "<!DOCTYPE html><title>Blocked</title>", "OK",
            #"{"error":"","message":"x"}"#, #"[{"access_token":"A"}]"#, "access_token=", #"{"name":"Ada"}"#,
        ])
    func unreadable(body: String) {
        let outcome = TokenReader(Definitions.payPalRules).read(
            ProviderAnswer(200, body), to: .code, sent: [], now: newYear)
        guard case .unreadable(let kept, let statement) = outcome else {
            Issue.record("\(outcome.name)")
            return
        }
        #expect(kept == SecretText(body))
        #expect(statement.status == 200 && statement.error == nil)
        #expect(statement.errorDescription == (body.hasPrefix("<") ? "Blocked" : nil))
    }

    @Test(
        "of a page that came with success nothing is shown but its title",
        arguments: [
            (#"<html><TITLE lang="en">Debug</TITLE><pre>{"access_token":"A21-canary"}</pre>"#, "Debug" as String?),
            (#"<html><pre>{"access_token":"A21-canary"}</pre>"#, nil),
            (#"<html><title>A21-canary {"access_token":"A21-canary"}"#, nil), ("<title", nil), ("<title></title>", ""),
        ])
    func pageOfSuccess(body: String, shown: String?) {
        let outcome = TokenReader(Definitions.payPalRules).read(
            ProviderAnswer(200, body), to: .code, sent: [], now: newYear)
        #expect(outcome.name == "unreadable" && outcome.statement?.errorDescription == shown)
    }

    @Test(
        "an answer that ended too early is believed where its tokens are whole, and never as a refusal",
        arguments: [
            (200, #"{"access_token":"A","refresh_token":"R"}"#, "granted"),
            (200, #"{"access_token":"A","refr"#, "unreadable"), (200, "", "unknown: cutOff"),
            (200, "access_token=A&refresh_token=R", "unreadable"),
            (400, #"{"error":"invalid_grant"}"#, "unknown: cutOff"),
            (200, #"{"error":"invalid_grant"}"#, "unknown: cutOff"),
            (401, "", "unknown: cutOff"), (500, "", "unknown: cutOff"), (429, "", "throttled 9"),
            (503, "<ht", "throttled 9"),
        ])
    func cutOff(status: Int, body: String, name: String) {
        let outcome = TokenReader(Definitions.payPalRules).read(
            cutOff: ProviderAnswer(status, body, ["Retry-After": "9"]), to: .refresh, sent: [], now: newYear)
        #expect(outcome.name == name)
        if let granted = outcome.granted { #expect(granted.oddities.contains("cut_off")) }
    }
}
