// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCurl
import Testing

@testable import ProviderClients

@Suite("A provider over HTTP", .timeLimit(.minutes(1)))
struct ConnectionTests {
    private let sdk = ExchangeParameters(isSDKCode: true, redirectURI: nil, codeVerifier: nil)
    private let granted = #"{"access_token":"A1","token_type":"Bearer","expires_in":900,"refresh_token":"R1"}"#

    @Test("a code, a refresh and userinfo go out as these bytes and come back read")
    func wholePath() async throws {
        let provider = ScriptedProvider([
            .json("200 OK", granted), .json("200 OK", #"{"access_token":"A2","expires_in":"900","app_id":"APP-1"}"#),
            .json("200 OK", #"{"user_id":"u1","email":"a@x.test","email_verified":"true"}"#),
        ])
        try await withConnection(to: provider) { connection in
            let first = await connection.exchange(try code("C/1+"), sdk)
            #expect(first.granted?.tokens.refreshToken == SecretText("R1") && first.granted?.expiresIn == 900)
            let second = await connection.refresh(SecretText("R1")) { true }
            #expect(second.granted?.tokens.accessToken == SecretText("A2"))
            #expect(second.granted?.tokens.refreshToken == nil)
            let third = await connection.profile(accessToken: SecretText("A2"), limit: .seconds(5))
            guard case .fetched(let profile) = third else {
                Issue.record("no profile")
                return
            }
            #expect(profile.claims == [.sub: .text("u1"), .email: .text("a@x.test"), .emailVerified: .flag(true)])
        }
        #expect(
            provider.requests.map(withoutTransport) == [
                "POST /v1/oauth2/token HTTP/1.1|Accept: application/json|User-Agent: consent-gateway|"
                    + "Authorization: Basic SUQ6U0VDUkVU|Content-Type: application/x-www-form-urlencoded||"
                    + "grant_type=authorization_code&response_type=token&"
                    + "redirect_uri=urn%3Aietf%3Awg%3Aoauth%3A2.0%3Aoob&code=C%2F1%2B",
                "POST /v1/oauth2/token HTTP/1.1|Accept: application/json|User-Agent: consent-gateway|"
                    + "Authorization: Basic SUQ6U0VDUkVU|Content-Type: application/x-www-form-urlencoded||"
                    + "grant_type=refresh_token&refresh_token=R1",
                "GET /v1/identity/openidconnect/userinfo/?schema=openid HTTP/1.1|Accept: application/json|"
                    + "User-Agent: consent-gateway|Authorization: Bearer A2||",
            ])
    }

    @Test(
        "a refusal is told as such and nothing is sent again",
        arguments: [
            ("400 Bad Request", #"{"error":"access_denied"}"#, "rejected"),
            ("401 Unauthorized", #"{"error":"invalid_client"}"#, "credentials refused"),
            ("429 Too Many Requests", "", "throttled 7"), ("503 Service Unavailable", "", "throttled 7"),
            ("302 Found", "", "request refused"), ("500 Internal Server Error", "", "unknown: serverError"),
            ("200 OK", "<html>", "unreadable"), ("204 No Content", "", "unreadable"),
        ])
    func refusals(status: String, body: String, name: String) async throws {
        let provider = ScriptedProvider([.json(status, body, "Retry-After: 7\r\nLocation: /elsewhere")])
        try await withConnection(to: provider) { connection in
            let outcome = await connection.exchange(try code("c"), sdk)
            #expect(outcome.name == name)
        }
        #expect(provider.requests.count == 1)
    }

    @Test(
        "a code whose answer does not come is spent once and its end unknown",
        arguments: [
            (ScriptedProvider.Reaction.answerAndClose(""), "unknown: reset"),
            (.answerAndClose("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"), "unknown: cutOff"),
            (
                .answerAndClose("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"access_token\":\"A\",\"refr"),
                "unreadable"
            ),
            (.answerAndClose("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"access_token\":\"A\"}"), "granted"),
            (.answerAndClose("HTTP/1.0 200 OK\r\n\r\n{\"access_token\":\"A\"}"), "granted"),
            (
                .answer(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n{\"access_token\":\"A\"}\r\n0\r\n\r\n"),
                "granted"
            ),
            (.answerAndClose("nonsense\r\n\r\n"), "unknown: protocolError"),
        ])
    func lostAnswers(reaction: ScriptedProvider.Reaction, name: String) async throws {
        let provider = ScriptedProvider([reaction])
        try await withConnection(to: provider) { connection in
            let outcome = await connection.exchange(try code("c"), sdk)
            #expect(outcome.name == name)
        }
        #expect(provider.requests.count == 1)
    }

    @Test("a provider that says nothing is listened to until `answer`, and no longer")
    func silence() async throws {
        let provider = ScriptedProvider([.silence, .silence])
        try await withConnection(to: provider, answer: .seconds(1)) { connection in
            let outcome = await connection.exchange(try code("c"), sdk)
            #expect(outcome.name == "unknown: timeout")
            guard
                case .failed(let statement) = await connection.profile(
                    accessToken: SecretText("A"), limit: .seconds(1))
            else {
                Issue.record("not failed")
                return
            }
            #expect(statement.status == 0)
        }
        #expect(provider.requests.count <= 2)
    }

    @Test("an answer beyond 1 MiB is not waited for")
    func tooLarge() async throws {
        let body = #"{"access_token":"A","x":""# + String(repeating: "x", count: 1_100_000) + #""}"#
        let provider = ScriptedProvider([.json("200 OK", body), .json("400 Bad Request", body)])
        try await withConnection(to: provider) { connection in
            var outcome = await connection.refresh(SecretText("R1")) { true }
            #expect(outcome.name == "unreadable" && outcome.statement?.status == 200)
            outcome = await connection.refresh(SecretText("R1")) { true }
            #expect(outcome.name == "unknown: bodyTooLarge" && outcome.statement?.status == 400)
        }
    }

    @Test("a success in a coding that is not what its head says cannot be read; nobody says that no answer came")
    func undecodable() async throws {
        let answer = { (status: String, coding: String) in
            ScriptedProvider.Reaction.answerAndClose(
                "HTTP/1.1 \(status)\r\nContent-Encoding: \(coding)\r\nContent-Length: 20\r\n\r\n"
                    + #"{"access_token":"A"}"#)
        }
        let provider = ScriptedProvider([
            answer("200 OK", "gzip"), answer("201 Created", "br"), answer("400 Bad Request", "gzip"),
        ])
        try await withConnection(to: provider) { connection in
            var outcome = await connection.exchange(try code("c1"), sdk)
            #expect(outcome.name == "unreadable" && outcome.statement?.status == 200)
            outcome = await connection.exchange(try code("c2"), sdk)
            #expect(outcome.name == "unreadable" && outcome.statement?.status == 201)
            outcome = await connection.exchange(try code("c3"), sdk)
            #expect(outcome.name == "unknown: undecodable" && outcome.statement?.status == 400)
        }
    }

    @Test("a fence that is down keeps a refresh from being sent")
    func fenced() async throws {
        let provider = ScriptedProvider([.json("200 OK", granted)])
        try await withConnection(to: provider) { connection in
            let outcome = await connection.refresh(SecretText("R1")) { false }
            #expect(outcome.name == "not sent: fenced")
        }
        #expect(provider.requests == [])
    }

    @Test(
        "a userinfo call that fails is to be tried again, one that is refused is not",
        arguments: [
            (ScriptedProvider.Reaction.json("500 Internal Server Error", ""), false, 500),
            (.json("403 Forbidden", #"{"error":"insufficient_scope"}"#), true, 403), (.answerAndClose(""), false, 0),
            (.answerAndClose("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"), false, 200),
        ])
    func userinfo(reaction: ScriptedProvider.Reaction, isRefused: Bool, status: Int) async throws {
        let provider = ScriptedProvider([reaction, reaction, reaction])
        try await withConnection(to: provider) { connection in
            switch await connection.profile(accessToken: SecretText("A"), limit: .seconds(20)) {
            case .fetched, .untrusted, .notOffered: Issue.record("a profile came of nothing")
            case .refused(let statement): #expect(isRefused && statement.status == status)
            case .failed(let statement): #expect(!isRefused && statement.status == status)
            }
        }
    }

    @Test(
        "what never left says so",
        arguments: [
            ("http://127.0.0.1:1/token", "not sent: connect"), ("http://example.test/token", "not sent: configuration"),
            ("ftp://127.0.0.1/token", "not sent: configuration"),
            ("http://169.254.169.254/", "not sent: configuration"),
            ("https://169.254.169.254/", "not sent: refusedAddress"),
        ])
    func notSent(url: String, name: String) async throws {
        let outcome = try await withClient { client in
            let connection = CurlProviderConnection(
                Definitions.payPal(tokenEndpoint: url), timekeeper: FixedTime(), order: nil, client: { client })
            return await connection.exchange(try code("c"), sdk).name
        }
        #expect(outcome == name)
    }

    @Test("a client is configured as the definition's transport says")
    func transport() {
        let transport = ProviderTransport(
            http2: true, caFile: "ca.pem", proxy: SecretText("http://u:p@127.0.0.1:3128"), noProxy: [".corp"])
        let configuration = transport.curlConfiguration
        #expect(configuration.proxy == "http://u:p@127.0.0.1:3128" && configuration.noProxy == [".corp"])
        #expect(configuration.caFile == "ca.pem" && configuration.bodyLimit == 1 << 20)
    }

    @Test("userinfo in PayPal's newer schema is asked at its own path, without a slash before the query")
    func newerSchema() async throws {
        let provider = ScriptedProvider([.json("200 OK", #"{"user_id":"u1"}"#)])
        try await provider.serving {
            try await withClient { client in
                let definition = Definitions.payPal(
                    userinfoEndpoint: provider.url("/v1/identity/oauth2/userinfo?schema=paypalv1.1"))
                let connection = CurlProviderConnection(
                    definition, timekeeper: FixedTime(), order: nil, client: { client })
                _ = await connection.profile(accessToken: SecretText("A"), limit: .seconds(20))
            }
        }
        #expect(
            provider.requests.first?.hasPrefix("GET /v1/identity/oauth2/userinfo?schema=paypalv1.1 HTTP/1.1\r\n")
                == true)
    }

    @Test("without a client nothing is sent")
    func noClient() async throws {
        let connection = CurlProviderConnection(
            Definitions.payPal(), timekeeper: FixedTime(), order: nil, client: { nil })
        #expect(await connection.refresh(SecretText("R")) { true }.name == "not sent: stopped")
        #expect(connection.facts.issuer.clientID == "ID")
    }

    @Test("a provider without userinfo has no profile to give")
    func noUserinfo() async throws {
        let connection = CurlProviderConnection(
            Definitions.generic(.none), timekeeper: FixedTime(), order: nil, client: { nil })
        guard case .notOffered = await connection.profile(accessToken: SecretText("A"), limit: .seconds(1)) else {
            Issue.record("somebody was asked")
            return
        }
    }

    // MARK: Around the tests

    private struct EmptyCode: Error {}

    private func code(_ text: String) throws -> AuthorizationCode {
        guard let code = AuthorizationCode(text) else { throw EmptyCode() }
        return code
    }

    private func withConnection(
        to provider: ScriptedProvider, answer: Duration = .seconds(20),
        _ body: @Sendable (CurlProviderConnection) async throws -> Void
    ) async throws {
        try await provider.serving {
            try await withClient { client in
                let definition = Definitions.payPal(
                    tokenEndpoint: provider.url("/v1/oauth2/token"),
                    userinfoEndpoint: provider.url("/v1/identity/openidconnect/userinfo/?schema=openid"), answer: answer
                )
                try await body(
                    CurlProviderConnection(definition, timekeeper: FixedTime(), order: nil, client: { client }))
            }
        }
    }
}
