// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import NativeCrypto
import NativeCurl
import NativeJSON
import NativeSystem
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("ID tokens under the client's secret")
struct MACTests {
    private static let secret = "acme-secret-canary-of-32-bytes-or-more"

    /// The same claims under HS256.
    static func signed(_ made: String, with key: String) -> String? {
        let claims = made.split(separator: ".")[1]
        let message = Base64.urlSafe.text(of: Array(#"{"alg":"HS256"}"#.utf8)) + "." + claims
        guard let mac = try? HMACSHA256(key: SecretBytes(Array(key.utf8))) else { return nil }
        return message + "." + Base64.urlSafe.text(of: mac.mac(Array(message.utf8)))
    }

    private static func settings(_ url: String) -> String {
        """
            issuer: \(url)
            token_endpoint: \(url)/token
            userinfo_endpoint: \(url)/userinfo
            jwks_uri: \(url)/jwks
            id_token: required
            id_token_algorithms: [HS256]
            redirect_uri: com.acme.app:/cb
        """
    }

    @Test("HS256 verifies with the secret where the profile allows it, and with no public key")
    func hs256() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        let secret = MACTests.secret
        script.change { behaviour in
            behaviour.claims["aud"] = "simulated-client"
            behaviour.idToken = { MACTests.signed($0, with: secret) }
        }
        try await TestGateway.inFolder(provider: script.url, providerSettings: MACTests.settings(script.url)) {
            folder in
            let path = folder + "/gateway.yaml"
            let text = String(decoding: try readFile(at: path, limit: 1 << 16).bytes, as: UTF8.self)
            try replaceFile(
                Array(text.replacing("client_secret: simulated-secret", with: "client_secret: \(secret)").utf8),
                at: path, permissions: 0o600)
            try await TestGateway.living(in: folder) { gateway async throws in
                func exchange(_ code: String) async throws -> TestAnswer {
                    let body = #"{"provider":"paypal","subject":"user-1","code":"\#(code)"}"#
                    return try await gateway.call(.post(Array(body.utf8)), "/v1/consents")
                }
                let made = try await exchange("c-canary-1")
                #expect(made.status == 201 && made.json["provider_subject"]?.string == "s-canary-1")
                script.change { $0.idToken = { MACTests.signed($0, with: SigningKeys.rsa) } }
                let forged = try await exchange("c-canary-2")
                #expect(forged.code == "id_token_invalid")
                #expect(forged.json["detail"]?.string?.contains("the signature does not match") == true)
                // What another algorithm signs is not looked at, though the key is the issuer's.
                script.change { $0.idToken = { $0 } }
                let other = try await exchange("c-canary-3")
                #expect(other.json["detail"]?.string?.contains("algorithm RS256 is not allowed") == true)
            }
        }
    }
}
