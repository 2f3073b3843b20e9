// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import ConsentUseCases
import Consents
import NativeSystem
import TestSupport
import Testing

@testable import GatewayAssembly

/// `client_secrets: [NEW, OLD]`, through the whole program and with two instances on one store.
@Suite("A client secret that is being changed")
struct SecretRotationTests {
    private static let newer = basic("newer-secret")
    private static let older = basic("simulated-secret")

    @Test("a code is exchanged with the second where the first is refused, and every process begins with that one then")
    func exchange() async throws {
        try await withOldSecretOnly { script, folder in
            try await TestGateway.living(in: folder) { first in
                try await TestGateway.living(in: folder) { second in
                    let c1 = try await first.post(code: "c1", subject: "u1")
                    #expect(c1.status == 201)
                    #expect(secrets(script.requests(of: .exchange)) == [Self.newer, Self.older])
                    #expect(script.requests(of: .exchange).allSatisfy { $0.body.contains("code=c1") })
                    let c2 = try await first.post(code: "c2", subject: "u2")
                    #expect(c2.status == 201)
                    let c3 = try await second.post(code: "c3", subject: "u3")
                    #expect(c3.status == 201)
                    #expect(secrets(script.requests(of: .exchange).dropFirst(2)) == [Self.older, Self.older])
                    #expect(first.log.text.contains("a provider takes another of the client's secrets"))
                }
            }
            try await TestGateway.living(in: folder) { later in
                let c4 = try await later.post(code: "c4", subject: "u4")
                #expect(c4.status == 201)
            }
            #expect(script.count(of: .exchange) == 5)
        }
    }

    @Test("a refresh and a revocation find the second as well, and tell it")
    func refresh() async throws {
        let isOldTaken = Locked(false)
        try await withOldSecretOnly(from: isOldTaken) { script, folder in
            try await TestGateway.living(in: folder) { gateway in
                let id = try #require(try await gateway.post(code: "c1", subject: "u1").id)
                isOldTaken.withLock { $0 = true }
                #expect(try await gateway.refresh(id).status == 200)
                #expect(secrets(script.requests(of: .refresh)) == [Self.newer, Self.older])
                #expect(Set(script.requests(of: .refresh).map(\.body)).count == 1)
                isOldTaken.withLock { $0 = false }
                let own = try await gateway.serving.gateway.store.providerStates()
                #expect(own == [], "no state of the provider's comes of it")
                #expect(try await gateway.raw("DELETE", "/v1/consents/\(id)").status == 200)
                blockUntil { script.count(of: .revoke) >= 3 }
                let revoked = secrets(script.requests(of: .revoke))
                #expect(revoked == [Self.older, Self.newer, Self.newer])
            }
            try await TestGateway.living(in: folder) { later in
                let c2 = try await later.post(code: "c2", subject: "u2")
                #expect(c2.status == 201)
                #expect(secrets(script.requests(of: .exchange)).last == Self.newer)
            }
            #expect(script.count(of: .exchange) == 2)
        }
    }

    @Test("only where all are refused are our credentials to blame, and the provider is paused")
    func noneTaken() async throws {
        let script = try PayPalScript { call, _, _ in call == .refresh ? .http(401, "") : nil }
        defer { script.provider.stop() }
        try await TestGateway.inFolder(provider: script.provider.url) { folder in
            try configure(folder)
            try await TestGateway.living(in: folder) { gateway in
                let id = try #require(try await gateway.post(code: "c1", subject: "u1").id)
                #expect(try await gateway.refresh(id).code == "provider_misconfigured")
                #expect(secrets(script.requests(of: .refresh)) == [Self.newer, Self.older])
                let state = try #require(try await gateway.serving.gateway.store.providerStates().first)
                #expect(state.health.pause != nil)
                #expect(try await gateway.refresh(id).code == "provider_unavailable")
                #expect(script.count(of: .refresh) == 2)
            }
        }
    }

    /// - Parameter taken: whether the provider takes the old secret; else it takes the new one.
    private func withOldSecretOnly(
        from taken: Locked<Bool> = Locked(true), _ body: (PayPalScript, String) async throws -> Void
    ) async throws {
        let script = try PayPalScript { call, _, request in
            guard call != .userinfo else { return nil }
            let good = taken.withLock { $0 } ? Self.older : Self.newer
            return request.field("authorization") == good ? nil : .http(401, #"{"error":"invalid_client"}"#)
        }
        defer { script.provider.stop() }
        try await TestGateway.inFolder(
            provider: script.provider.url, providerSettings: "    revocation_endpoint: \(script.provider.url)/revoke"
        ) { folder in
            try configure(folder)
            try await body(script, folder)
        }
    }

    private func configure(_ folder: String) throws {
        let path = folder + "/gateway.yaml"
        let text = String(decoding: try readFile(at: path, limit: 1 << 16).bytes, as: UTF8.self)
        let changed = text.replacing(
            "client_secret: simulated-secret", with: "client_secrets: [newer-secret, simulated-secret]")
        #expect(changed != text)
        try replaceFile(Array(changed.utf8), at: path, permissions: 0o600)
    }

    private func secrets(_ requests: some Sequence<ScriptedRequest>) -> [String] {
        requests.map { $0.field("authorization") ?? "" }
    }

    private static func basic(_ secret: String) -> String {
        "Basic " + base64("simulated-client:\(secret)")
    }
}
