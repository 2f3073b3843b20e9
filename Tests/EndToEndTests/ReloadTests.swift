// SPDX-License-Identifier: Apache-2.0
import NativeCurl
import NativeJSON
import NativeSystem
import Settings
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("Reading the configuration again")
struct ReloadTests {
    @Test("a changed client secret is used for the next code, and what was kept before stays readable")
    func changedSecret() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let before = try await gateway.post(code: "c1", subject: "u")
            let path = gateway.folder + "/gateway.yaml"
            let text = String(decoding: try readFile(at: path, limit: 1 << 16).bytes, as: UTF8.self)
            let changed = text.replacing("client_secret: simulated-secret", with: "client_secret: changed-secret")
            try replaceFile(Array(changed.utf8), at: path, permissions: 0o600)
            let loaded = try SettingsLoader.load(path: path, environment: [:], options: .whole)
            try gateway.serving.gateway.reload(loaded.settings, environment: [:])
            #expect(try await gateway.post(code: "c2", subject: "v").status == 201)
            let credentials = script.requests(of: .exchange).map { $0.field("Authorization") }
            #expect(
                credentials == [
                    "Basic c2ltdWxhdGVkLWNsaWVudDpzaW11bGF0ZWQtc2VjcmV0",
                    "Basic c2ltdWxhdGVkLWNsaWVudDpjaGFuZ2VkLXNlY3JldA==",
                ])
            #expect(try await gateway.record(try #require(before.id)).status == 200)
        }
    }

    @Test("providers with another client, new ones and those that are gone are named, and stay as they were")
    func changedClient() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let path = gateway.folder + "/gateway.yaml"
            let text = String(decoding: try readFile(at: path, limit: 1 << 16).bytes, as: UTF8.self)
            let changes = [
                ("client_id: simulated-client", "client_id: another-client", ["paypal"]),
                ("  paypal:\n", "  wallet:\n", ["paypal", "wallet"]), ("", "", []),
            ]
            for (from, to, names) in changes {
                let changed = from.isEmpty ? text : text.replacing(from, with: to)
                #expect(from.isEmpty || changed != text)
                try replaceFile(Array(changed.utf8), at: path, permissions: 0o600)
                let loaded = try SettingsLoader.load(path: path, environment: [:], options: .whole)
                #expect(try gateway.serving.gateway.reload(loaded.settings, environment: [:]) == names)
            }
            #expect(try await gateway.post(code: "c1", subject: "u").status == 201)
        }
    }

    @Test("a nonce that nobody could check is refused before anything is sent")
    func nonce() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let body = #"{"provider":"paypal","subject":"u","code":"c","nonce":"n"}"#
            let answer = try await gateway.call(.post(Array(body.utf8)), "/v1/consents")
            #expect(answer.status == 400)
            #expect(answer.json["detail"]?.string?.hasPrefix("nonce") == true)
            #expect(script.provider.requests.isEmpty)
        }
    }
}
