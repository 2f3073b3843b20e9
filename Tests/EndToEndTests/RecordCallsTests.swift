// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import ConsentUseCases
import Consents
import NativeCrypto
import NativeCurl
import NativeJSON
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("The calls on a record")
struct RecordCallsTests {
    static func settings(_ url: String) -> String {
        """
          acme:
            authorization_endpoint: \(url)/authorize
            token_endpoint: \(url)/token
            userinfo_endpoint: \(url)/userinfo
            revocation_endpoint: \(url)/revoke
            client_id: acme-client
            client_secret: acme-secret
            scopes: [openid, email, phone]
            id_token: ignored
            pkce: optional
            access_tokens: on
        """
    }

    static func with(
        _ bend: @escaping PayPalScript.Bend = { _, _, _ in nil },
        _ body: (TestGateway, PayPalScript) async throws -> Void
    ) async throws {
        let script = try PayPalScript { call, number, request in
            if let bent = bend(call, number, request) { return bent }
            switch call {
            case .exchange:
                return .http(
                    200,
                    #"{"access_token":"A\#(number)-canary","refresh_token":"R\#(number)-canary","expires_in":3600,"#
                        + #""scope":"openid email"}"#)
            case .refresh: return .http(200, #"{"access_token":"AR\#(number)-canary","expires_in":3600}"#)
            case .userinfo: return .http(200, #"{"sub":"s-1","email":"old@example.test"}"#)
            case .revoke: return nil
            }
        }
        defer { script.provider.stop() }
        let url = script.provider.url
        try await TestGateway.with(provider: url, sections: settings(url)) { gateway in
            try await body(gateway, script)
        }
    }

    static func made(_ gateway: TestGateway, code: String = "c", subject: String = "u") async throws -> String {
        let body = #"{"provider":"acme","subject":"\#(subject)","code":"\#(code)"}"#
        let answer = try await gateway.call(.post(Array(body.utf8)), "/v1/consents")
        #expect(answer.status == 201)
        return try #require(answer.id)
    }

    @Test("a list goes page by page, newest first, by its filters")
    func list() async throws {
        try await RecordCallsTests.with { gateway, _ in
            var ids: [String] = []
            for number in 0..<7 {
                let subject = number < 5 ? "many" : "other-\(number)"
                // Each is another person at the provider, or it would be one renewed record.
                ids.append(try await gateway.post(code: "c\(number)", subject: "\(subject)-\(number)").id ?? "")
            }
            let first = try await gateway.call(.get, "/v1/consents?limit=3")
            #expect(first.status == 200)
            #expect(first.json["items"]?.array?.map { $0["id"]?.string } == ids.reversed().prefix(3).map { $0 })
            let cursor = try #require(first.json["next_cursor"]?.string)
            let second = try await gateway.call(.get, "/v1/consents?limit=200&cursor=\(cursor)")
            #expect(second.json["items"]?.array?.map { $0["id"]?.string } == ids.reversed().dropFirst(3).map { $0 })
            #expect(second.json["next_cursor"]?.isNull == true)
            let one = try await gateway.call(.get, "/v1/consents?subject=other-6-6&provider=paypal&status=active")
            #expect(one.json["items"]?.array?.map { $0["id"]?.string } == [ids[6]])
            let none = try await gateway.call(.get, "/v1/consents?status=revoked")
            #expect(none.json["items"]?.count == 0)
            for query in ["limit=0", "limit=201", "limit=x", "cursor=%21", "status=gone", "subject=", "sbject=user-1"] {
                let answer = try await gateway.call(.get, "/v1/consents?\(query)")
                #expect(answer.code == "invalid_request", "\(query)")
            }
        }
    }

    @Test("a profile says what is missing and why, is fetched again when it is too old, and stale when it cannot be")
    func profile() async throws {
        let isDown = Mailbox<Void>()
        try await RecordCallsTests.with { call, number, _ in
            guard call == .userinfo, number > 1 else { return nil }
            return isDown.isEmpty ? .http(200, #"{"sub":"s-1","email":"new@example.test"}"#) : .http(500, "")
        } _: { gateway, script in
            let id = try await RecordCallsTests.made(gateway)
            let path = "/v1/consents/\(id)/profile"
            let kept = try await gateway.call(.get, path)
            #expect(kept.status == 200)
            #expect(kept.json["claims"] == ["sub": "s-1", "email": "old@example.test"])
            #expect(kept.json["missing"]?["phone_number"]?.string == "not_granted")
            #expect(kept.json["missing"]?["email_verified"]?.string == "not_provided")
            #expect(kept.json["stale"]?.boolean == false)
            #expect(script.count(of: .userinfo) == 1)
            blockUntil { gateway.serving.place.time.now.milliseconds % 1000 > 20 }
            let fresh = try await gateway.call(.get, path + "?max_age=0")
            #expect(fresh.json["claims"]?["email"]?.string == "new@example.test")
            isDown.post(())
            let stale = try await gateway.call(.get, path + "?max_age=0")
            #expect(stale.status == 200)
            #expect(stale.json["stale"]?.boolean == true)
            let events = try await gateway.events(id)
            #expect(events.map(\.draft.type) == [.created, .profileRead, .profileChanged])
            #expect(events.last?.draft.data["attributes"] == .text("email"))
        }
    }

    @Test("an access token is handed out while it has life enough, refreshed when it has not or was rejected")
    func accessToken() async throws {
        try await RecordCallsTests.with { gateway, script in
            let id = try await RecordCallsTests.made(gateway)
            let path = "/v1/consents/\(id)/access-token"
            func ask(_ body: String) async throws -> TestAnswer {
                try await gateway.call(.post(Array(body.utf8)), path)
            }
            let first = try await ask("{}")
            #expect(first.json["access_token"]?.string == "A1-canary")
            #expect(first.json["token_type"]?.string == "Bearer")
            #expect(first.json["scope"]?.string == "openid email")
            #expect(try await ask(#"{"min_ttl":1700}"#).json["access_token"]?.string == "A1-canary")
            #expect(try await ask(#"{"min_ttl":100000}"#).json["access_token"]?.string == "A1-canary", "half its life")
            #expect(script.count(of: .refresh) == 0)
            let digest = Hexadecimal.text(of: sha256("A1-canary"))
            let next = try await ask(#"{"rejected":"\#(digest)"}"#)
            #expect(next.json["access_token"]?.string == "AR1-canary")
            #expect(try await ask(#"{"rejected":"\#(digest)"}"#).json["access_token"]?.string == "AR1-canary")
            #expect(script.count(of: .refresh) == 1)
            #expect(try await ask(#"{"rejected":"x"}"#).code == "invalid_request")
            // Both members have defaults, so that a call without a body asks for what `{}` asks for.
            #expect(try await ask("").json["access_token"]?.string == "AR1-canary")
            #expect(try await gateway.raw("POST", path).json["access_token"]?.string == "AR1-canary")
            #expect(try await gateway.raw("POST", "/v1/consents").status == 415)
            let paypal = try #require(try await gateway.post(code: "p", subject: "v").id)
            let off = try await gateway.call(.post(Array("{}".utf8)), "/v1/consents/\(paypal)/access-token")
            #expect(off.status == 403)
            #expect(off.code == "access_tokens_off")
        }
    }

    @Test("a withdrawal ends the grant at once, and the provider hears of it: the refresh token first")
    func withdrawal() async throws {
        try await RecordCallsTests.with { call, number, _ in
            call == .revoke && number == 1 ? .http(503, "", fields: ["Retry-After: 1"]) : nil
        } _: { gateway, script in
            let id = try await RecordCallsTests.made(gateway)
            let path = "/v1/consents/\(id)"
            for _ in 0..<2 {
                let answer = try await gateway.raw("DELETE", path)
                #expect(answer.status == 200)
                #expect(answer.json["status"]?.string == "revoked")
                #expect(answer.json["status_reason"]?.string == "user")
                #expect(answer.json["refreshable"]?.boolean == false)
                // Nothing is held any more; when it was fetched stays.
                #expect(answer.json["access_token_expires_at"]?.isNull == true)
                #expect(answer.json["next_refresh_at"]?.isNull == true)
                #expect(answer.json["profile_status"]?.string == "unavailable")
                #expect(answer.json["profile_fetched_at"]?.string != nil)
            }
            #expect(try await gateway.refresh(id).code == "consent_ended")
            #expect(try await gateway.call(.get, path + "/profile").code == "consent_ended")
            #expect(try await gateway.raw("DELETE", "/v1/consents/\(CallerTests.id)").code == "not_found")
            blockUntil { script.count(of: .revoke) >= 3 }
            let bodies = script.requests(of: .revoke).map(\.body)
            #expect(
                bodies == [
                    "token=R1-canary&token_type_hint=refresh_token", "token=R1-canary&token_type_hint=refresh_token",
                    "token=A1-canary&token_type_hint=access_token",
                ])
            var events = try await gateway.events(id)
            while events.count < 4 { events = try await gateway.events(id) }
            #expect(events.map(\.draft.type) == [.created, .revoked, .tokenRevocation, .tokenRevocation])
            #expect(events.suffix(2).allSatisfy { $0.draft.type.rawValue == "consent.token_revocation" })
            #expect(events.suffix(2).map { $0.draft.data["outcome"] } == [.text("revoked"), .text("revoked")])
            let again = try await RecordCallsTests.made(gateway, code: "d")
            #expect(again != id, "a revoked record is never revived")
        }
    }

    @Test("tokens that come while the person withdraws are not kept: they are revoked as well, the new one first")
    func withdrawalDuringRefresh() async throws {
        let release = Mailbox<Void>()
        try await RecordCallsTests.with { call, _, _ in
            guard call == .refresh else { return nil }
            blockUntil { !release.isEmpty }
            return .http(200, #"{"access_token":"A9-canary","refresh_token":"R9-canary","expires_in":3600}"#)
        } _: { gateway, script in
            let id = try await RecordCallsTests.made(gateway)
            async let refreshed = gateway.refresh(id)
            blockUntil { script.count(of: .refresh) == 1 }
            #expect(try await gateway.raw("DELETE", "/v1/consents/\(id)").status == 200)
            release.post(())
            #expect(try await refreshed.code == "consent_ended")
            blockUntil { script.count(of: .revoke) >= 4 }
            let tokens = script.requests(of: .revoke).map { $0.body.prefix(8) }
            #expect(Set(tokens) == ["token=R1", "token=A1", "token=R9", "token=A9"])
        }
    }

    @Test("the trail can be read, and the whole ledger verifies; an altered event is named")
    func evidence() async throws {
        try await RecordCallsTests.with { gateway, _ in
            let id = try await RecordCallsTests.made(gateway)
            _ = try await gateway.refresh(id)
            let answer = try await gateway.call(.get, "/v1/consents/\(id)/events")
            #expect(answer.status == 200)
            let items = try #require(answer.json["items"]?.array)
            #expect(items.map { $0["seq"]?.integer } == [1, 2])
            #expect(items.map { $0["type"]?.string } == ["consent.created", "consent.refreshed"])
            #expect(items.allSatisfy { $0["mac"]?.string?.count == 64 })
            #expect(items.first?["data"]?["scopes_granted"]?.string == "openid email")
            #expect(items.first?["data"]?["subject_sha256"]?.string?.count == 64)
            let report = try await gateway.serving.gateway.verify(since: nil)
            #expect(report.consents == 1 && report.events == 2 && report.findings.isEmpty)
            #expect(try await gateway.call(.get, "/v1/consents/\(CallerTests.id)/events").code == "not_found")
        }
    }
}
