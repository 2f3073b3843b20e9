// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCurl
import NativeJSON
import TestSupport
import Testing

@Suite("From a phone's code to a kept consent")
struct ExchangeTests {
    @Test("PayPal's SDK response becomes a consent with its profile, and the record can be read")
    func mainJob() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let made = try await gateway.post(code: "EBYhRW3ncivudQn8UopLp4A28+/=", subject: "user-42")
            #expect(made.status == 201)
            let id = try #require(made.id)
            #expect(made.headers["location"] == "/v1/consents/\(id)")
            #expect(made.headers["cache-control"] == "no-store")
            #expect(made.json["status"]?.string == "active")
            #expect(made.json["environment"]?.string == "sandbox")
            #expect(made.json["subject"]?.string == "user-42")
            #expect(made.json["profile_status"]?.string == "current")
            #expect(made.json["profile"]?["email"]?.string == "ada@canary.example")
            #expect(made.json["profile"]?["address"]?["postal_code"]?.string == "95131")
            #expect(made.json["refreshable"]?.boolean == true)
            #expect(made.json["client"]?["sdk_version"]?.string == "2.18.1")
            let record = try await gateway.record(id)
            #expect(record.status == 200)
            #expect(record.json["profile"] == nil)
            #expect(record.json["id"]?.string == id)
            let exchange = try #require(script.requests(of: .exchange).first)
            #expect(exchange.line == "POST /v1/oauth2/token HTTP/1.1")
            #expect(
                exchange.body == "grant_type=authorization_code&response_type=token&"
                    + "redirect_uri=urn%3Aietf%3Awg%3Aoauth%3A2.0%3Aoob&code=EBYhRW3ncivudQn8UopLp4A28%2B%2F%3D")
            #expect(exchange.field("Authorization") == "Basic c2ltdWxhdGVkLWNsaWVudDpzaW11bGF0ZWQtc2VjcmV0")
            let userinfo = try #require(script.requests(of: .userinfo).first)
            #expect(userinfo.line == "GET /v1/identity/openidconnect/userinfo/?schema=openid HTTP/1.1")
            #expect(userinfo.field("Authorization") == "Bearer A23AA-access-canary-1")
        }
    }

    @Test("the same code again, at the same time and later, is one exchange and one record")
    func sameCode() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let answers = try await withThrowingTaskGroup(of: TestAnswer.self) { group in
                for _ in 0..<20 { group.addTask { try await gateway.post(code: "one-code", subject: "u") } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count { $0.status == 201 } == 1)
            #expect(answers.count { $0.status == 200 } == 19)
            #expect(Set(answers.compactMap(\.id)).count == 1)
            #expect(script.count(of: .exchange) == 1)
            let again = try await gateway.post(code: "one-code", subject: "u")
            #expect(again.status == 200)
            #expect(script.count(of: .exchange) == 1)
        }
    }

    @Test("another subject's code is refused without a call, and the record's trail tells of it")
    func otherSubject() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let made = try await gateway.post(code: "one-code", subject: "owner")
            let stolen = try await gateway.post(code: "one-code", subject: "thief")
            #expect(stolen.status == 409)
            #expect(stolen.code == "code_already_used")
            #expect(script.count(of: .exchange) == 1)
            let events = try await gateway.events(try #require(made.id))
            #expect(events.map(\.draft.type) == [.created, .codeOfOtherSubject])
        }
    }

    @Test("a second consent of the same person renews the record, and keeps the old refresh token if it brings none")
    func renewal() async throws {
        let script = try PayPalScript { call, number, _ in
            call == .exchange && number == 2 ? .http(200, PayPalScript.tokens(2, refreshToken: nil)) : nil
        }
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let first = try await gateway.post(code: "first", subject: "u")
            let second = try await gateway.post(code: "second", subject: "u")
            #expect(first.status == 201)
            #expect(second.status == 200)
            #expect(second.id == first.id)
            #expect(second.json["offline"]?.string == "reused")
            let refreshed = try await gateway.refresh(try #require(first.id))
            #expect(refreshed.status == 200)
            let sent = try #require(script.requests(of: .refresh).first)
            #expect(sent.body == "grant_type=refresh_token&refresh_token=R23AA-refresh-canary")
            let events = try await gateway.events(try #require(first.id))
            #expect(events.map(\.draft.type) == [.created, .renewed, .refreshed])
        }
    }

    @Test("two people of the provider under one subject, and one person under two subjects, are separate consents")
    func separateConsents() async throws {
        let script = try PayPalScript { call, number, _ in
            call == .userinfo ? .http(200, PayPalScript.person(number == 2 ? 2 : 1)) : nil
        }
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let first = try await gateway.post(code: "c1", subject: "u")
            let other = try await gateway.post(code: "c2", subject: "u")
            let shared = try await gateway.post(code: "c3", subject: "v")
            #expect([first.status, other.status, shared.status] == [201, 201, 201])
            #expect(Set([first.id, other.id, shared.id]).count == 3)
        }
    }

    @Test("known only later, the same person's older record is superseded by the newer one")
    func superseding() async throws {
        let script = try PayPalScript { call, number, _ in
            call == .userinfo && number == 2 ? .http(503, "") : nil
        }
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let older = try await gateway.post(code: "c1", subject: "u")
            let newer = try await gateway.post(code: "c2", subject: "u")
            #expect(newer.status == 201)
            #expect(newer.json["profile_status"]?.string == "pending")
            #expect(newer.json["provider_subject"]?.isNull == true)
            let id = try #require(newer.id)
            #expect(try await gateway.refresh(id).status == 200)
            let record = try await gateway.record(id)
            #expect(record.json["profile_status"]?.string == "current")
            let gone = try await gateway.record(try #require(older.id))
            #expect(gone.json["status"]?.string == "superseded")
            #expect(gone.json["superseded_by"]?.string == id)
            #expect(try await gateway.refresh(try #require(older.id)).code == "consent_ended")
        }
    }

    static let outcomes: [(name: String, reply: ScriptedReply, status: Int, code: String, isSentAgain: Bool)] = [
        (
            "dead code, PayPal", .http(400, #"{"error":"access_denied","correlation_id":"c1"}"#), 422, "code_rejected",
            false
        ),
        ("dead code, standard", .http(400, #"{"error":"invalid_grant"}"#), 422, "code_rejected", false),
        ("wrong secret", .http(401, #"{"error":"invalid_client"}"#), 502, "provider_misconfigured", true),
        (
            "throttled", .http(429, #"{"name":"RATE_LIMIT_REACHED"}"#, fields: ["Retry-After: 7"]), 503,
            "provider_unavailable", true
        ),
        ("unavailable", .http(503, ""), 503, "provider_unavailable", true),
        ("redirect", .http(308, "", fields: ["Location: /elsewhere"]), 502, "provider_misconfigured", true),
        ("server error", .http(500, "<html>"), 504, "exchange_unknown", false),
        ("no answer", .silence(then: .close), 504, "exchange_unknown", false),
        ("reset", .silence(then: .reset), 504, "exchange_unknown", false),
        ("unreadable", .http(200, "<!DOCTYPE html><title>Blocked</title>"), 502, "provider_bad_response", false),
    ]

    @Test("each outcome has its answer, and the code is sent again only where it is unspent", arguments: outcomes)
    func outcome(_ name: String, _ reply: ScriptedReply, _ status: Int, _ code: String, _ isSentAgain: Bool)
        async throws
    {
        let script = try PayPalScript { call, number, _ in call == .exchange && number == 1 ? reply : nil }
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let first = try await gateway.post(code: "the-code", subject: "u")
            #expect(first.status == status)
            #expect(first.code == code)
            #expect(first.json["request_id"]?.string == first.headers["x-request-id"])
            #expect((first.headers["retry-after"] != nil) == (status == 503))
            if name == "throttled" || name == "unavailable" {
                let gated = try await gateway.post(code: "the-code", subject: "u")
                #expect(gated.status == 503 && gated.headers["retry-after"] != nil)
                #expect(script.count(of: .exchange) == 1)
                try gateway.forgetProviderStates()
            }
            let second = try await gateway.post(code: "the-code", subject: "u")
            #expect(second.status == (isSentAgain ? 201 : status))
            if !isSentAgain { #expect(second.code == code) }
            #expect(script.count(of: .exchange) == (isSentAgain ? 2 : 1))
        }
    }

    @Test("a provider that is not there leaves the code unspent")
    func notThere() async throws {
        let script = try PayPalScript()
        let url = script.provider.url
        script.provider.stop()
        try await TestGateway.with(provider: url) { gateway in
            let answer = try await gateway.post(code: "the-code", subject: "u")
            #expect(answer.status == 503)
            #expect(answer.code == "provider_unavailable")
        }
    }

    @Test("an answer that takes longer than a caller waits is kept, and the same request finds it")
    func slowAnswer() async throws {
        let release = Mailbox<Void>()
        let script = try PayPalScript { call, _, _ in
            if call == .exchange { blockUntil { !release.isEmpty } }
            return nil
        }
        defer { script.provider.stop() }
        let timeouts = "    timeouts: { connect: 1s, total: 1s, answer: 30s }"
        try await TestGateway.with(provider: script.provider.url, providerSettings: timeouts) { gateway in
            let pending = try await gateway.post(code: "slow", subject: "u")
            #expect(pending.status == 503)
            #expect(pending.code == "exchange_pending")
            #expect(pending.headers["retry-after"] == "2")
            release.post(())
            var answer = try await gateway.post(code: "slow", subject: "u")
            while answer.code == "exchange_pending" { answer = try await gateway.post(code: "slow", subject: "u") }
            #expect(answer.status == 200 || answer.status == 201)
            #expect(script.count(of: .exchange) == 1)
        }
    }

    @Test("any number of codes of one person at the same time become one live consent, and each has its answer")
    func onePersonAtOnce() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let answers = try await withThrowingTaskGroup(of: TestAnswer.self) { group in
                for number in 0..<40 { group.addTask { try await gateway.post(code: "c-\(number)", subject: "u") } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count { $0.status == 201 } == 1)
            #expect(answers.count { $0.status == 200 } == 39)
            #expect(Set(answers.compactMap(\.id)).count == 1)
        }
    }

    @Test("a userinfo call that does not end costs neither the consent nor its answer")
    func endlessProfile() async throws {
        let done = Mailbox<Void>()
        let script = try PayPalScript { call, _, _ in
            if call == .userinfo { blockUntil { !done.isEmpty } }
            return nil
        }
        defer { script.provider.stop() }
        let timeouts = "    timeouts: { connect: 1s, total: 2s, answer: 30s }"
        try await TestGateway.with(provider: script.provider.url, providerSettings: timeouts) { gateway in
            let made = try await gateway.post(code: "c", subject: "u")
            done.post(())
            #expect(made.status == 201)
            #expect(made.json["profile_status"]?.string == "pending")
            #expect(made.json["refreshable"]?.boolean == true)
        }
    }

    @Test(
        "a body in a coding is refused before it is read, an empty Accept asks for nothing",
        arguments: [
            (name: "Content-Encoding", value: "gzip", status: 415), ("Content-Encoding", "identity", 201),
            ("Accept", "", 201), ("Accept", "text/html", 406),
        ])
    func negotiation(_ name: String, _ value: String, _ status: Int) async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let body = #"{"response":{"code":"c"},"client":{"environment":"sandbox"}}"#
            let answer = try await gateway.call(
                .post(Array(body.utf8)), "/v1/consents?subject=u", headers: [(name, value)])
            #expect(answer.status == status)
            #expect(script.count(of: .exchange) == (status == 201 ? 1 : 0))
        }
    }

    @Test("what the app says of its environment must be the provider's")
    func environment() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let body = #"{"response":{"code":"c"},"client":{"environment":"mock"}}"#
            for query in ["", "&provider=paypal"] {
                let answer = try await gateway.call(.post(Array(body.utf8)), "/v1/consents?subject=u\(query)")
                #expect(answer.status == 400)
                #expect(answer.code == "environment_mismatch")
            }
            #expect(script.provider.requests.isEmpty)
        }
    }
}
