// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import NativeCurl
import NativeJSON
import NativeSystem
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("A refresh token that nears its end")
struct EndingTokenTests {
    /// What keeps the grant from being refreshed: its own trouble, or its provider's.
    static let troubles = [
        (400, #"{"error":"invalid_scope"}"#), (401, #"{"error":"invalid_client"}"#), (500, ""), (503, ""),
    ]

    @Test("from four fifths of its life on, a try that fails asks for a new consent, once", arguments: troubles)
    func soon(_ status: Int, _ body: String) async throws {
        let isMended = Locked(false)
        let script = try PayPalScript { call, number, _ in
            if call == .refresh, !isMended.withLock({ $0 }) { return .http(status, body) }
            let refresh = #""refresh_token":"R\#(number)-canary","refresh_token_expires_in":100000"#
            return call == .userinfo
                ? nil : .http(200, #"{"access_token":"A-canary","token_type":"Bearer","expires_in":600,\#(refresh)}"#)
        }
        defer { script.provider.stop() }
        try await TestGateway.with(
            provider: script.provider.url, providerSettings: "    refresh_token_reuse: static"
        ) { gateway in
            let id = try #require(try await gateway.post(code: "c", subject: "u").id)
            func tryAndCount() async throws -> Int {
                try gateway.forgetProviderStates()
                #expect(try await gateway.refresh(id).status != 200)
                return try await gateway.events(id).count { $0.draft.type == .reauthorizationSoon }
            }
            #expect(try await tryAndCount() == 0)
            try age(gateway, bySeconds: 79_000)
            #expect(try await tryAndCount() == 0)
            try age(gateway, bySeconds: 1_500)
            #expect(try await tryAndCount() == 1)
            #expect(try await tryAndCount() == 1)
            let told = try await gateway.call(.get, "/v1/consents/\(id)/events").json["items"]?.array ?? []
            let event = try #require(told.first { $0["type"]?.string == "consent.reauthorization_soon" })
            let end = try await gateway.serving.gateway.store.consent(try #require(ConsentID(id)))?
                .record.timing.refreshTokenExpiresAt
            #expect(event["data"]?["refresh_token_ends_at"]?.integer == end?.milliseconds)
            isMended.withLock { $0 = true }
            try gateway.forgetProviderStates()
            #expect(try await gateway.refresh(id).status == 200)
            isMended.withLock { $0 = false }
            #expect(try await tryAndCount() == 1, "a new token has its whole life before it")
        }
    }

    /// Tokens were issued, and end, so many seconds earlier.
    private func age(_ gateway: TestGateway, bySeconds seconds: Int) throws {
        let step = seconds * 1000
        try AgedStore.execute(
            """
            UPDATE consents SET issued_at = issued_at - \(step), due_at = due_at - \(step),
                access_token_expires_at = access_token_expires_at - \(step),
                refresh_token_expires_at = refresh_token_expires_at - \(step)
            """, in: gateway.folder)
    }
}
