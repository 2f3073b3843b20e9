// SPDX-License-Identifier: Apache-2.0
import ConsentUseCases
import Consents
import NativeJSON
import TestSupport
import Testing

@testable import GatewayAssembly

/// Whether a refresh token goes out again after a sending that nobody knows the end of.
@Suite("A refresh token that may have been spent")
struct ReuseTests {
    @Test("a static provider that once sent another refresh token is one that forbids reuse for that grant from then")
    func rotatedOnce() async throws {
        let script = try PayPalScript { call, number, _ in
            guard call == .refresh else { return nil }
            return number == 2
                ? .http(200, PayPalScript.tokens(number, refreshToken: "R2-canary")) : .silence(then: .close)
        }
        defer { script.provider.stop() }
        let reuse = "    refresh_token_reuse: static"
        try await TestGateway.with(provider: script.provider.url, providerSettings: reuse) { gateway in
            let id = try #require(try await gateway.post(code: "c1", subject: "u1").id)
            let other = try #require(try await gateway.post(code: "c2", subject: "u2").id)
            #expect(try await gateway.refresh(id).status == 503)
            #expect(try await gateway.refresh(id).status == 200, "the same token again, at once")
            #expect(try await gateway.refresh(id).status == 503)
            for way in ReuseTests.ways { await #expect(throws: ConsentFailure.self) { try await way(gateway, id) } }
            #expect(script.requests(of: .refresh).map { $0.body.contains("R2-canary") } == [false, false, true])
            // For a grant whose token never changed it is static as before.
            try gateway.forgetProviderStates()
            for _ in 0..<2 { #expect(try await gateway.refresh(other).status == 503) }
            #expect(script.count(of: .refresh) == 5)
            // With the access token in hand lapsed there is nothing to lose by asking.
            try gateway.forgetProviderStates()
            try AgedStore.execute("UPDATE consents SET access_token_expires_at = issued_at", in: gateway.folder)
            #expect(try await gateway.refresh(id).status == 503)
            #expect(script.requests(of: .refresh).last?.body.contains("R2-canary") == true)
            #expect(script.count(of: .refresh) == 6)
        }
    }

    @Test("within a grace it goes out once more and never a third time, whoever asks")
    func grace() async throws {
        let script = try PayPalScript { call, _, _ in call == .refresh ? .silence(then: .close) : nil }
        defer { script.provider.stop() }
        let reuse = "    refresh_token_reuse: { grace: 600s }"
        for second in ReuseTests.ways {
            try await TestGateway.with(provider: script.provider.url, providerSettings: reuse) { gateway in
                let before = script.count(of: .refresh)
                let id = try #require(try await gateway.post(code: "c1", subject: "u1").id)
                #expect(try await gateway.refresh(id).status == 503)
                await #expect(throws: ConsentFailure.self) { try await second(gateway, id) }
                #expect(script.count(of: .refresh) == before + 2)
                for way in ReuseTests.ways {
                    await #expect(throws: ConsentFailure.self) { try await way(gateway, id) }
                }
                let held = try await gateway.refresh(id)
                #expect(held.code == "provider_unavailable" && held.text.contains("Nothing was sent now"))
                #expect(script.count(of: .refresh) == before + 2)
                #expect(try await gateway.record(id).json["status"]?.string == "failing")
            }
        }
    }

    /// As a caller, as `refresh ID` and as `refresh ID --force`.
    private static let ways: [@Sendable (TestGateway, String) async throws -> Void] = [
        { _ = try await $0.serving.gateway.refresh.toTheEnd(try #require(ConsentID($1)), caller: caller) },
        { _ = try await $0.serving.gateway.refresh.asTrial(try #require(ConsentID($1)), caller: caller) },
        { _ = try await $0.serving.gateway.refresh.forced(try #require(ConsentID($1)), caller: caller) },
    ]
    private static let caller = CallerIdentity(name: "test", requestID: nil)
}
