// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCurl
import NativeEventLoop
import Testing

@testable import ProviderClients

@Suite("Revocations", .timeLimit(.minutes(1)))
struct RevocationTests {
    @Test(
        "what an answer means",
        arguments: [
            (200, "", "revoked"), (200, "{}", "revoked"), (204, "", "revoked"), (202, "<html>", "revoked"),
            (200, "not JSON", "revoked"), (200, #"{"error":""}"#, "revoked"),
            (200, #"{"error":"invalid_client"}"#, "failed 7"), (200, #"{"error":"invalid_token"}"#, "revoked"),
            (400, #"{"error":"unsupported_token_type"}"#, "unsupported"),
            (400, "error=unsupported_token_type", "unsupported"),
            (400, #"{"error":"invalid_token","error_description":"Token expired or revoked"}"#, "revoked"),
            (400, #"{"error":"INVALID_GRANT"}"#, "revoked"), (400, #"{"error":"token_not_found"}"#, "revoked"),
            (400, #"{"error":"invalid_request"}"#, "refused"), (400, "", "failed 7"), (400, "<html>", "failed 7"),
            (401, #"{"error":"invalid_client"}"#, "failed 7"), (401, "", "failed 7"),
            (403, #"{"error":"unauthorized_client"}"#, "failed 7"), (404, "<html>", "failed 7"),
            (404, #"{"status":404,"error":"Not Found"}"#, "failed 7"),
            (404, #"{"error":"token_not_found"}"#, "revoked"),
            (410, "", "failed 7"),
            (405, #"{"error":"unsupported_token_type"}"#, "unsupported"), (302, "", "failed 7"),
            (302, #"{"error":"invalid_token"}"#, "failed 7"),
            (429, "", "failed 7"), (503, "<html>", "failed 7"), (500, "", "failed 7"), (502, "<html>", "failed 7"),
            (503, #"{"error":"invalid_token"}"#, "failed 7"), (0, "", "failed 7"), (101, "", "failed 7"),
            (400, #"{"name":"RATE_LIMIT_REACHED","message":"Too many requests."}"#, "failed 7"),
        ])
    func answers(status: Int, body: String, name: String) {
        let answer = ProviderAnswer(status, body, ["Retry-After": "7"])
        #expect(read(answer).name == name)
    }

    @Test(
        "a delay is told where the provider tells one",
        arguments: [
            (nil, "failed"), ("soon", "failed"), ("0", "failed 1"), ("99999", "failed 3600"),
            ("Thu, 01 Jan 2026 00:02:00 GMT", "failed 120"),
        ])
    func delays(field: String?, name: String) {
        #expect(read(ProviderAnswer(503, "", field.map { ["retry-after": $0] } ?? [:])).name == name)
    }

    @Test("a refusal that is the provider's own word for a wrong secret leaves the token to be revoked")
    func ownWord() {
        var rules = Definitions.genericRules
        let answer = ProviderAnswer(400, #"{"error":"invalid_request","error_description":"Authorization failed"}"#)
        #expect(read(answer, rules).name == "refused")
        rules.refreshErrors = [
            Definitions.rule([400], ["invalid_request"], saying: "authorization failed", .credentials)
        ]
        #expect(read(answer, rules).name == "failed")
    }

    @Test("what the provider says is freed of the token")
    func scrubbed() throws {
        let token = "r1/secret+refresh=token"
        let body =
            #"{"error":"bad \#(token)","error_description":"token=r1%2Fsecret%2Brefresh%3Dtoken is \#(token)","#
            + #""correlation_id":"\#(token)"}"#
        for status in [400, 403, 500] {
            let statement = try #require(
                read(ProviderAnswer(status, body), sent: [SecretText(token)], Definitions.payPalRules).statement)
            #expect(statement.status == status)
            for text in [statement.error, statement.errorDescription, statement.correlationID] {
                let text = try #require(text)
                #expect(!text.contains("secret"))
            }
        }
    }

    @Test("a token goes out as these bytes, once the provider's answer is read")
    func wholePath() async throws {
        let provider = ScriptedProvider([
            .json("200 OK", ""), .json("400 Bad Request", #"{"error":"unsupported_token_type"}"#),
        ])
        let names = try await outcomes(of: provider, [.refreshToken, .accessToken]).map(\.name)
        #expect(names == ["revoked", "unsupported"])
        let head =
            "POST /v1/revoke?x=1 HTTP/1.1|Accept: application/json|User-Agent: consent-gateway|"
            + "Authorization: Basic SUQ6U0VDUkVU|Content-Type: application/x-www-form-urlencoded||"
        #expect(
            provider.requests.map(withoutTransport) == [
                head + "token=T%2F1%2B&token_type_hint=refresh_token",
                head + "token=T%2F1%2B&token_type_hint=access_token",
            ])
    }

    @Test(
        "over HTTP a refusal, an answer that is cut off and silence are told apart",
        arguments: [
            (ScriptedProvider.Reaction.json("403 Forbidden", #"{"error":"no","error_description":"T/1+"}"#), "failed"),
            (.json("503 Service Unavailable", "", "Retry-After: 30"), "failed 30"),
            (.json("302 Found", "", "Location: /elsewhere"), "failed"), (.answerAndClose(""), "failed"),
            (.answerAndClose("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"), "failed"),
            (.answerAndClose("nonsense\r\n\r\n"), "failed"), (.silence, "failed"),
        ])
    func reactions(reaction: ScriptedProvider.Reaction, name: String) async throws {
        let provider = ScriptedProvider([reaction, reaction, reaction, reaction, reaction, reaction])
        let outcome = try #require(
            try await outcomes(of: provider, [.refreshToken], total: .seconds(2)).first)
        #expect(outcome.name == name)
        #expect(outcome.statement?.errorDescription?.contains("T/1+") != true)
    }

    @Test("a provider that cannot be reached is to be asked again")
    func unreachable() async throws {
        let outcome = try await withClient { client in
            let definition = Definitions.payPal(revocationEndpoint: "http://127.0.0.1:1/revoke")
            return await CurlProviderConnection(definition, timekeeper: FixedTime(), order: nil, client: { client })
                .revoke(SecretText("T"), kind: .refreshToken)
        }
        #expect(outcome.name == "failed" && outcome.statement?.status == 0)
        let stopped = CurlProviderConnection(
            Definitions.payPal(revocationEndpoint: "http://127.0.0.1:1/revoke"), timekeeper: FixedTime(),
            order: nil, client: { nil })
        #expect(await stopped.revoke(SecretText("T"), kind: .accessToken).name == "failed")
    }

    @Test("a provider without an endpoint is not called")
    func noEndpoint() async throws {
        let provider = ScriptedProvider([.json("200 OK", "")])
        let names = try await outcomes(of: provider, [.refreshToken, .accessToken], path: nil).map(\.name)
        #expect(names == ["unsupported", "unsupported"] && provider.requests == [])
    }

    // MARK: Around the tests

    private func read(
        _ answer: ProviderAnswer, sent: [SecretText] = [], _ rules: AnswerRules = Definitions.genericRules
    ) -> RevocationOutcome {
        RevocationReader(rules).read(answer, sent: sent, now: newYear)
    }

    private func outcomes(
        of provider: ScriptedProvider, _ kinds: [TokenKind], path: String? = "/v1/revoke?x=1",
        total: Duration = .seconds(20)
    ) async throws -> [RevocationOutcome] {
        try await provider.serving {
            try await withClient { client in
                let definition = Definitions.payPal(
                    tokenEndpoint: provider.url("/v1/oauth2/token"), revocationEndpoint: path.map(provider.url),
                    total: total)
                let connection = CurlProviderConnection(
                    definition, timekeeper: FixedTime(), order: nil, client: { client })
                var outcomes: [RevocationOutcome] = []
                for kind in kinds { outcomes.append(await connection.revoke(SecretText("T/1+"), kind: kind)) }
                return outcomes
            }
        }
    }
}

extension RevocationOutcome {
    /// The case's name, and the delay where there is one.
    fileprivate var name: String {
        switch self {
        case .revoked: "revoked"
        case .unsupported: "unsupported"
        case .refused: "refused"
        case .failed(_, let delay): delay.map { "failed \($0.wholeSeconds)" } ?? "failed"
        }
    }

    fileprivate var statement: ProviderStatement? {
        switch self {
        case .revoked, .unsupported: nil
        case .refused(let statement), .failed(let statement, _): statement
        }
    }
}
