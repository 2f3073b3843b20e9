// SPDX-License-Identifier: Apache-2.0
import Consents
import Testing

@testable import ProviderClients

@Suite("Token answers that bring none")
struct RefusalTests {
    private func read(
        _ answer: ProviderAnswer, _ call: TokenReader.Call, _ rules: AnswerRules = Definitions.payPalRules,
        sent: [SecretText] = []
    ) -> TokenOutcome {
        TokenReader(rules).read(answer, to: call, sent: sent, now: newYear)
    }

    @Test(
        "an error that says the server was busy or has failed blames nobody else",
        arguments: [
            ("temporarily_unavailable", "throttled"), ("slow_down", "throttled"),
            ("server_error", "unknown: serverError"),
        ])
    func serverWords(error: String, name: String) {
        let answer = ProviderAnswer(400, #"{"error":"\#(error)"}"#)
        for rules in [Definitions.payPalRules, Definitions.genericRules] {
            #expect(read(answer, .code, rules).name == name && read(answer, .refresh, rules).name == name)
        }
    }

    @Test("PayPal's ways to refuse a code", arguments: [400, 401])
    func payPalCode(status: Int) {
        for error in ["access_denied", "invalid_request", "invalid_grant", "invalid_authz_code"] {
            let body =
                #"{"error":"\#(error)","error_description":"Invalid authorization code","correlation_id":"c1","#
                + #""information_link":"https://developer.paypal.com/"}"#
            let outcome = read(ProviderAnswer(status, body), .code)
            #expect(outcome.name == "rejected")
            #expect(
                outcome.statement
                    == ProviderStatement(
                        status: status, error: error, errorDescription: "Invalid authorization code",
                        correlationID: "c1"))
        }
    }

    @Test(
        "a refused code of PayPal's, at any other status or with any other error, is no rejection",
        arguments: [
            (403, "access_denied", "request refused"), (400, "invalid_client", "credentials refused"),
            (400, "unauthorized_client", "credentials refused"), (400, "invalid_scope", "request refused"),
            (500, "access_denied", "unknown: serverError"), (503, "invalid_grant", "throttled"),
            (400, "unsupported_grant_type", "request refused"), (404, "invalid_request", "request refused"),
        ])
    func payPalCodeElse(status: Int, error: String, name: String) {
        #expect(read(ProviderAnswer(status, #"{"error":"\#(error)"}"#), .code).name == name)
    }

    @Test(
        "what a refused refresh of PayPal's means",
        arguments: [
            (400, "invalid_grant", "anything", "rejected"), (401, "INVALID_GRANT", "", "rejected"),
            (400, "invalid_request", "Unable to refresh access token", "rejected"),
            (400, "invalid_request", "Error: unable to REFRESH access token.", "rejected"),
            (400, "invalid_request", "Missing parameter", "request refused"),
            (400, "access_denied", "no", "request refused"), (401, "invalid_client", "no", "credentials refused"),
            (401, "invalid_token", "no", "request refused"), (400, "invalid_scope", "no", "request refused"),
            (500, "invalid_grant", "no", "unknown: serverError"),
        ])
    func payPalRefresh(status: Int, error: String, description: String, name: String) {
        let body = #"{"error":"\#(error)","error_description":"\#(description)","correlation_id":"c1"}"#
        #expect(read(ProviderAnswer(status, body), .refresh).name == name)
    }

    @Test(
        "a rule without statuses ends no grant and no code where the server has failed or sends elsewhere",
        arguments: [
            (200, "rejected"), (400, "rejected"), (410, "rejected"), (302, "request refused"),
            (500, "unknown: serverError"), (502, "unknown: serverError"), (503, "throttled"),
            (0, "unknown: serverError"), (408, "throttled"), (425, "throttled"), (429, "throttled"),
        ])
    func statusOfRule(status: Int, name: String) {
        var rules = Definitions.genericRules
        rules.codeErrors = [Definitions.rule([], ["invalid_grant"], .grantDead)]
        rules.refreshErrors = rules.codeErrors
        let answer = ProviderAnswer(status, #"{"error":"invalid_grant","error_description":"gone"}"#)
        for call in [TokenReader.Call.code, .refresh] {
            #expect(TokenReader(rules).read(answer, to: call, sent: [], now: newYear).name == name)
        }
        rules.codeErrors = [Definitions.rule([status], ["invalid_grant"], .grantDead)]
        #expect(TokenReader(rules).read(answer, to: .code, sent: [], now: newYear).name == "rejected")
    }

    @Test(
        "what a status means where the body says nothing that is known",
        arguments: [
            (301, "", "request refused"), (302, "<html>", "request refused"), (307, "", "request refused"),
            (400, "", "request refused"), (400, "oops", "request refused"), (404, "<html>", "request refused"),
            (401, "", "credentials refused"), (403, " \n", "credentials refused"), (401, "{}", "credentials refused"),
            (401, "Unauthorized", "credentials refused"), (403, "<!DOCTYPE html>", "request refused"),
            (422, #"{"error":7}"#, "request refused"), (429, "", "throttled"), (503, "<html>", "throttled"),
            (500, "", "unknown: serverError"), (502, "<html>", "unknown: serverError"),
            (504, "", "unknown: serverError"),
            (520, "", "unknown: serverError"), (524, "", "unknown: serverError"), (599, "", "unknown: serverError"),
            (101, "", "unknown: serverError"), (0, "", "unknown: serverError"), (999, "", "unknown: serverError"),
            (500, "<html>invalid code</html>", "unknown: serverError"),
        ])
    func statuses(status: Int, body: String, name: String) {
        for call in [TokenReader.Call.code, .refresh] {
            #expect(read(ProviderAnswer(status, body, type: nil), call, Definitions.payPalRules).name == name)
        }
    }

    @Test(
        "an error in an answer of 200 is an error",
        arguments: [
            ("bad_refresh_token", "The refresh token passed is incorrect or expired.", "rejected"),
            ("bad_refresh_token", "other", "request refused"), ("invalid_grant", "", "rejected"),
            ("invalid_client", "", "credentials refused"), ("something", "", "request refused"),
            ("rate_limit_reached", "", "throttled"),
        ])
    func errorInSuccess(error: String, description: String, name: String) {
        let body = #"{"error":"\#(error)","error_description":"\#(description)"}"#
        #expect(read(ProviderAnswer(200, body), .refresh, Definitions.genericRules).name == name)
    }

    @Test(
        "a form and an object carry errors too",
        arguments: [
            ("error=bad_refresh_token&error_description=is+incorrect+or+expired", "rejected"),
            ("error=invalid_grant", "rejected"), (#"{"error":{"type":"invalid_grant","message":"m"}}"#, "rejected"),
            (#"{"error":{"code":190,"message":"m"}}"#, "request refused"),
        ])
    func otherForms(body: String, name: String) {
        #expect(read(ProviderAnswer(400, body, type: nil), .refresh, Definitions.genericRules).name == name)
    }

    @Test(
        "a provider's rule may name any meaning",
        arguments: [
            (410, "", "rejected"), (410, "{}", "request refused"), (420, "", "throttled 30"),
            (418, "", "unknown: serverError"), (409, "", "credentials refused"),
        ])
    func rules(status: Int, body: String, name: String) {
        let answer = ProviderAnswer(status, body, ["Retry-After": "30"])
        #expect(read(answer, .refresh, Definitions.genericRules).name == name)
    }

    @Test(
        "throttling carries its delay and PayPal's own words",
        arguments: [
            ("120", "throttled 120"), ("Thu, 01 Jan 2026 00:02:00 GMT", "throttled 120"), ("soon", "throttled"),
        ])
    func throttled(field: String, name: String) {
        let body =
            #"{"name":"RATE_LIMIT_REACHED","message":"Too many requests. Blocked due to rate limiting.","#
            + #""debug_id":"d1","links":[]}"#
        for status in [429, 400, 403, 500] {
            let outcome = read(ProviderAnswer(status, body, ["retry-after": field]), .refresh)
            #expect(outcome.name == name)
            #expect(
                outcome.statement
                    == ProviderStatement(
                        status: status, error: "RATE_LIMIT_REACHED",
                        errorDescription: "Too many requests. Blocked due to rate limiting.", correlationID: "d1"))
        }
    }

    @Test("the correlation id is found in members first, then in headers")
    func correlation() {
        let header = ["PAYPAL-DEBUG-ID": "h1"]
        #expect(read(ProviderAnswer(500, "", header), .code).statement?.correlationID == "h1")
        #expect(
            read(ProviderAnswer(500, #"{"debug_id":"d1"}"#, header), .code).statement?.correlationID == "d1")
        #expect(read(ProviderAnswer(500, ""), .code).statement?.correlationID == nil)
    }

    @Test("what we sent comes back in no text, whatever way it is written")
    func scrubbed() throws {
        let secret = "r1/secret+refresh=token"
        let encoded = "r1%2Fsecret%2Brefresh%3Dtoken"
        let body =
            #"{"error":"bad \#(secret)","error_description":"refresh_token=\#(encoded) is \#(secret)\u0007","#
            + #""correlation_id":"\#(secret)"}"#
        let statement = try #require(
            read(ProviderAnswer(400, body), .refresh, sent: [SecretText(secret)]).statement)
        for text in [statement.error, statement.errorDescription, statement.correlationID] {
            let text = try #require(text)
            #expect(!text.contains(secret) && !text.contains(encoded) && !text.contains("\u{7}"))
        }
    }

    @Test("a short token that is echoed is taken out as well")
    func echoed() {
        let outcome = read(
            ProviderAnswer(400, #"{"error":"invalid_request","error_description":"refresh_token=R1 is bad"}"#),
            .refresh, sent: [SecretText("R1")])
        #expect(outcome.statement?.errorDescription == "refresh_token=*** is bad")
    }

    @Test("a long text is cut")
    func long() throws {
        let body = #"{"error":"e","error_description":"\#(String(repeating: "x", count: 5000))"}"#
        let text = try #require(read(ProviderAnswer(400, body), .refresh).statement?.errorDescription)
        #expect((1...200).contains(text.count))
    }

    @Test("of a page the beginning is kept, of other bodies nothing")
    func pages() {
        let page = read(ProviderAnswer(500, "<html>Blocked"), .code).statement
        #expect(page?.errorDescription == "<html>Blocked")
        #expect(read(ProviderAnswer(500, #"{"access_token":"A""#), .code).statement?.errorDescription == nil)
    }
}
