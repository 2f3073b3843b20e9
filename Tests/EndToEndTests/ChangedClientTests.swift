// SPDX-License-Identifier: Apache-2.0
import NativeCurl
import NativeJSON
import NativeSystem
import TestSupport
import Testing

@Suite("A provider's name that leads elsewhere")
struct ChangedClientTests {
    @Test(
        "no token is sent to another client, endpoint or environment than the one that issued it",
        arguments: [
            ("client_id: simulated-client", "client_id: another-client"),
            ("environment: sandbox", "environment: live"), ("api_url: ", "api_url: ELSEWHERE #"),
        ])
    func changed(from: String, to: String) async throws {
        let script = try PayPalScript(), other = try PayPalScript()
        defer {
            script.provider.stop()
            other.provider.stop()
        }
        try await TestGateway.inFolder(provider: script.provider.url) { folder in
            let id = try await TestGateway.living(in: folder) { gateway in
                let made = try await gateway.post(code: "c", subject: "u")
                #expect(made.json["profile_status"]?.string == "current")
                return try #require(made.id)
            }
            let path = folder + "/gateway.yaml"
            let text = String(decoding: try readFile(at: path, limit: 1 << 16).bytes, as: UTF8.self)
            let changed = text.replacing(from, with: to.replacing("ELSEWHERE", with: other.provider.url))
            #expect(changed != text)
            try replaceFile(Array(changed.utf8), at: path, permissions: 0o600)
            try await TestGateway.living(in: folder) { gateway in
                let profile = try await gateway.call(.get, "/v1/consents/\(id)/profile?max_age=0")
                #expect(profile.status == 200 && profile.json["stale"]?.boolean == true)
                #expect(profile.json["claims"]?["email"]?.string == "ada@canary.example")
                #expect(try await gateway.refresh(id).code == "provider_misconfigured")
                #expect(gateway.log.text.contains("a grant was issued to another client than the configured one"))
            }
            #expect(script.count(of: .userinfo) == 1 && script.count(of: .refresh) == 0)
            #expect(other.provider.requests.isEmpty)
        }
    }
}
