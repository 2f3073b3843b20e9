// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import ConsentUseCases
import Consents
import NativeJSON
import NativeSystem
import TestSupport
import Testing
import TokenVaults

@testable import GatewayAssembly

@Suite("Tokens that a race kept apart")
struct SpareRefreshTests {
    @Test("a refused refresh token is followed by the one that was kept apart, once, and then the grant is over")
    func tried() async throws {
        let script = try PayPalScript { call, number, request in
            guard call == .refresh else { return nil }
            return request.body.contains("spare") && number == 2
                ? .http(200, PayPalScript.tokens(number, refreshToken: "R-after-canary"))
                : .http(400, #"{"error":"invalid_grant"}"#)
        }
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let id = try #require(try await gateway.post(code: "c", subject: "u").id)
            try await keepSpare(of: id, in: gateway, script.provider.url)
            #expect(try await gateway.refresh(id).status == 200)
            #expect(
                script.requests(of: .refresh).map(\.body) == [
                    "grant_type=refresh_token&refresh_token=R-winner-canary",
                    "grant_type=refresh_token&refresh_token=R-spare-canary",
                ])
            #expect(try await gateway.refresh(id).code == "reauthorization_required")
            #expect(script.count(of: .refresh) == 3)
            #expect(
                try await gateway.events(id).map(\.draft.type)
                    == [.created, .refreshed, .spareKept, .spareTried, .refreshed, .reauthorizationRequired])
            #expect(try await gateway.serving.gateway.verify(since: nil).findings.isEmpty)
        }
    }

    @Test("a withdrawal revokes the spare's tokens too")
    func withdrawn() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        let endpoint = "    revocation_endpoint: \(script.provider.url)/revoke"
        try await TestGateway.with(provider: script.provider.url, providerSettings: endpoint) { gateway in
            let id = try #require(try await gateway.post(code: "c", subject: "u").id)
            try await keepSpare(of: id, in: gateway, script.provider.url)
            #expect(try await gateway.raw("DELETE", "/v1/consents/\(id)").status == 200)
            blockUntil { script.count(of: .revoke) >= 4 }
            let tokens = script.requests(of: .revoke).map(\.body)
            for token in ["R-winner", "A-winner", "R-spare", "A-spare"] {
                #expect(tokens.contains { $0.contains(token) }, "\(token)")
            }
        }
    }

    /// What two processes leave that have refreshed one grant at the same time.
    private func keepSpare(of id: String, in gateway: TestGateway, _ url: String) async throws {
        let store = gateway.serving.gateway.store
        let consent = try #require(ConsentID(id))
        let stored = try #require(try await store.consent(consent))
        let ring = try KeyRing.read(at: gateway.folder + "/vault-keys.json")
        let vault = try RingVault(ring: ring)
        let key = try vault.openConsentKey(try #require(stored.key), for: consent)
        for (number, name) in ["winner", "spare"].enumerated() {
            let tokens = TokenSet(
                accessToken: SecretText("A-\(name)-canary"), tokenType: "Bearer",
                refreshToken: SecretText("R-\(name)-canary"), idToken: nil)
            var generator = SystemRandomNumberGenerator()
            let attempt = AttemptID(UUIDv7(milliseconds: UInt64(number), random: (generator.next(), generator.next())))
            let now = Instant(milliseconds: wallClockMilliseconds())
            let event = EventDraft(
                type: .refreshed, at: now, caller: "test", requestID: nil,
                data: [
                    "scopes_granted": .text(stored.record.granted.blankSeparated),
                    "access_token_expires_at": .integer(stored.record.timing.accessTokenExpiresAt.milliseconds),
                ])
            let write = TokenWrite(
                id: consent, attempt: attempt, expectedGeneration: 1,
                tokens: try vault.seal(tokens, generation: 2, under: key), timing: stored.record.timing,
                isRefreshable: true, granted: stored.record.granted, at: now, events: [event])
            #expect(try await store.saveTokens(write) == (number == 0 ? .written : .generationMoved))
        }
    }
}
