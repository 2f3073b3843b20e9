// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCurl
import NativeHTTPServer
import NativeJSON
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("Refreshing a grant")
struct RefreshTests {
    @Test("a rotated refresh token is saved before anything else, and the next refresh sends it")
    func rotation() async throws {
        let script = try PayPalScript { call, number, _ in
            call == .refresh ? .http(200, PayPalScript.tokens(number, refreshToken: "R\(number + 1)-canary")) : nil
        }
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let id = try #require(try await gateway.post(code: "c", subject: "u").id)
            #expect(try await gateway.refresh(id).status == 200)
            #expect(try await gateway.refresh(id).status == 200)
            let bodies = script.requests(of: .refresh).map(\.body)
            #expect(
                bodies == [
                    "grant_type=refresh_token&refresh_token=R23AA-refresh-canary",
                    "grant_type=refresh_token&refresh_token=R2-canary",
                ])
            let record = try await gateway.record(id)
            #expect(record.json["last_refreshed_at"]?.string != nil)
        }
    }

    @Test("twenty parallel refreshes of one grant are one provider call")
    func singleFlight() async throws {
        let release = Mailbox<Void>()
        let script = try PayPalScript { call, _, _ in
            if call == .refresh { blockUntil { !release.isEmpty } }
            return nil
        }
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let id = try #require(try await gateway.post(code: "c", subject: "u").id)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<20 { group.addTask { try await gateway.refresh(id).status } }
                group.addTask {
                    blockUntil { gateway.serving.api.openRequests >= 20 }
                    // Whoever asks later is answered later: by then all twenty have come to the one on its way.
                    for _ in 0..<3 { _ = try await gateway.call(.get, "/v1/consents/\(id)") }
                    release.post(())
                    return 200
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.allSatisfy { $0 == 200 })
            #expect(script.count(of: .refresh) == 1)
        }
    }

    static let failures: [(ScriptedReply, Int, String, String)] = [
        (.http(400, #"{"error":"invalid_grant"}"#), 409, "reauthorization_required", "reauthorization_required"),
        (
            .http(400, #"{"error":"invalid_request","error_description":"Unable to refresh access token"}"#), 409,
            "reauthorization_required", "reauthorization_required"
        ),
        (.http(401, #"{"error":"invalid_client"}"#), 502, "provider_misconfigured", "active"),
        (.http(400, #"{"error":"invalid_scope"}"#), 502, "provider_misconfigured", "failing"),
        (.http(429, "", fields: ["Retry-After: 120"]), 503, "provider_unavailable", "active"),
        (.http(500, ""), 503, "provider_unavailable", "failing"),
        (.silence(then: .close), 503, "provider_unavailable", "failing"),
        // An exchange's `provider_bad_response` would send the person to a new consent screen.
        (.http(200, "{}"), 503, "provider_unavailable", "failing"),
    ]

    @Test("each failure blames the right one, and only the provider's own word ends the grant", arguments: failures)
    func failure(_ reply: ScriptedReply, _ status: Int, _ code: String, _ after: String) async throws {
        let script = try PayPalScript { call, _, _ in call == .refresh ? reply : nil }
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let id = try #require(try await gateway.post(code: "c", subject: "u").id)
            let answer = try await gateway.refresh(id)
            #expect(answer.status == status)
            #expect(answer.code == code)
            #expect((answer.headers["retry-after"] != nil) == (status == 503))
            let isPromised = answer.json["detail"]?.string?.contains("Nothing was spent") ?? false
            #expect(isPromised == ["active"].contains(after) || status == 502)
            #expect(try await gateway.record(id).json["status"]?.string == after)
            #expect(script.count(of: .refresh) == 1)
        }
    }

    @Test("a grant that is gone is not sent again")
    func gone() async throws {
        let script = try PayPalScript { call, _, _ in call == .refresh ? .http(400, #"{"error":"invalid_grant"}"#) : nil
        }
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let id = try #require(try await gateway.post(code: "c", subject: "u").id)
            for _ in 0..<3 { #expect(try await gateway.refresh(id).code == "reauthorization_required") }
            #expect(script.count(of: .refresh) == 1)
            let events = try await gateway.events(id)
            #expect(events.map(\.draft.type) == [.created, .reauthorizationRequired])
            let renewed = try await gateway.post(code: "d", subject: "u")
            #expect(renewed.id == id)
            #expect(renewed.json["status"]?.string == "active")
        }
    }

    @Test("a lost answer of a provider that forbids reuse is not followed by a second sending while the token is good")
    func ambiguous() async throws {
        let script = try PayPalScript { call, number, _ in
            call == .refresh && number == 1 ? .silence(then: .close) : nil
        }
        defer { script.provider.stop() }
        let reuse = "    refresh_token_reuse: forbidden"
        try await TestGateway.with(provider: script.provider.url, providerSettings: reuse) { gateway in
            let id = try #require(try await gateway.post(code: "c", subject: "u").id)
            #expect(try await gateway.refresh(id).status == 503)
            #expect(try await gateway.refresh(id).status == 503)
            #expect(script.count(of: .refresh) == 1)
        }
    }

    @Test("a consent without a refresh token expires with its access token, and stays readable")
    func expiry() async throws {
        let script = try PayPalScript { call, _, _ in
            call == .exchange ? .http(200, #"{"access_token":"A-canary","expires_in":1}"#) : nil
        }
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let made = try await gateway.post(code: "c", subject: "u")
            #expect(made.json["refreshable"]?.boolean == false)
            let id = try #require(made.id)
            var record = try await gateway.record(id)
            while record.json["status"]?.string == "active" { record = try await gateway.record(id) }
            #expect(record.json["status"]?.string == "expired")
            #expect(record.json["status_reason"]?.string == "no_refresh_token")
            #expect(try await gateway.refresh(id).code == "consent_ended")
            let again = try await gateway.post(code: "d", subject: "u")
            #expect(again.status == 201)
            #expect(again.id != id)
        }
    }
}
