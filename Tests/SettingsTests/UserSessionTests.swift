// SPDX-License-Identifier: Apache-2.0
import Settings
import Testing

@Suite("User sessions in the configuration")
struct UserSessionTests {
    private static func errors(_ entries: String..., provider: String = "") -> [String] {
        let text = SampleSettings.head + SampleSettings.provider + provider + "auth:\n  jwt:\n"
        return SampleSettings.errors(text + entries.map { "    - { \($0) }\n" }.joined())
    }

    private static let shop =
        "issuer: https://login.shop.example, audience: gateway, jwks_uri: https://login.shop.example/k"

    @Test("an issuer with its audience and keys is enough; its defaults are the contract's")
    func defaults() throws {
        let text = SampleSettings.head + SampleSettings.provider + "auth: { jwt: [{ \(UserSessionTests.shop) }] }\n"
        let entry = try #require(try SampleSettings.read(text).settings.auth.jwt.first)
        #expect(entry.algorithms == ["RS256", "ES256", "EdDSA"])
        #expect(entry.subjectClaim == "sub" && entry.subjectPrefix == nil && entry.type == nil && entry.proxy == nil)
        let proxied = try SampleSettings.read(text, variables: ["https_proxy": "http://proxy.example:3128"])
        #expect(proxied.settings.auth.jwt.first?.proxy?.reveal() == "http://proxy.example:3128")
    }

    @Test("a shared secret, no signature and a missing audience are refused by name")
    func requirements() {
        let shared = UserSessionTests.errors(UserSessionTests.shop + ", algorithms: [ES256, HS256]")
        #expect(shared.count == 1 && shared[0].contains("algorithms"))
        #expect(shared.first?.contains("is signed with a shared secret, which is refused here") == true)
        #expect(UserSessionTests.errors(UserSessionTests.shop + ", algorithms: [none]").count == 1)
        let missing = UserSessionTests.errors("issuer: https://a.example, jwks_uri: https://a.example/k")
        #expect(missing.first?.contains("auth.jwt[0].audience") == true)
        let sources = UserSessionTests.errors(UserSessionTests.shop + ", jwks: { file: k.json }")
        #expect(sources.first?.contains("stands beside jwks_uri") == true)
    }

    @Test(
        "an issuer and audience that are also a provider's are refused: its ID tokens would be sessions",
        arguments: [
            "    issuer: https://login.shop.example\n    trusted_audiences: []\n",
            "    issuer: https://login.shop.example/\n",
            "    jwks_uri: https://login.shop.example/k\n",
            "    issuer: https://shop.example\n", "    issuer: https://LOGIN.shop.example:443/tenant\n",
        ])
    func providers(_ lines: String) {
        let entry = UserSessionTests.shop.replacing("gateway", with: "shop")
        let errors = UserSessionTests.errors(entry, provider: lines)
        #expect(errors.count == 1 && errors[0].contains("auth.jwt[0].audience"), "\(errors)")
        #expect(errors.first?.contains("are also those of the provider acme") == true)
        // The same issuer with an audience of its own is somebody who runs one login for both.
        #expect(UserSessionTests.errors(UserSessionTests.shop, provider: lines).isEmpty)
    }

    @Test("two issuers need prefixes of which none begins with the other")
    func prefixes() {
        let other = "issuer: https://login.other.example, audience: gateway, jwks_uri: https://login.other.example/k"
        func errors(_ one: String, _ two: String) -> [String] {
            UserSessionTests.errors(UserSessionTests.shop + one, other + two)
        }
        func prefix(_ text: String) -> String { #", subject_prefix: "\#(text)""# }
        #expect(errors("", "").first?.contains("each needs a subject_prefix") == true)
        #expect(errors(prefix("a:"), prefix("b:")).isEmpty)
        for (one, two) in [("a", "a"), ("a", "ab"), ("ab", "a")] {
            let found = errors(prefix(one), prefix(two))
            #expect(found.count == 1 && found[0].contains("auth.jwt[1].subject_prefix"), "\(one) \(two): \(found)")
        }
    }

    @Test("one issuer may have two audiences with the same people, and stands there once for each")
    func audiences() {
        let shop = UserSessionTests.shop + #", subject_prefix: "shop:""#
        #expect(UserSessionTests.errors(shop, shop.replacing("gateway", with: "app")).isEmpty)
        let twice = UserSessionTests.errors(shop, shop)
        #expect(twice.count == 1 && twice[0].contains("issuer and audience are those of jwt[0] already"))
    }
}

@Suite("Client authentication in the configuration")
struct ClientAuthenticationSettingsTests {
    private static let assertion = "token_endpoint_auth_method: private_key_jwt"
    private static let key = "private_key: { env: KEY }"

    @Test("each method has its own parts, and one that would never be used is a mistake that is named")
    func parts() {
        let (assertion, key) = (ClientAuthenticationSettingsTests.assertion, ClientAuthenticationSettingsTests.key)
        let secret = "client_secret: { env: ACME_SECRET }"
        let tls = "token_endpoint_auth_method: tls_client_auth"
        let rows: [([String], String?)] = [
            ([assertion, key], nil), ([assertion], "private_key: is missing"),
            ([assertion, key, "token_endpoint_auth_signing_alg: PS256"], nil),
            ([assertion, key, "token_endpoint_auth_signing_alg: HS256"], "signing_alg: must be one of"),
            ([assertion, "private_keys: [{ env: KEY }, { env: KEY }]"], nil),
            ([assertion, key, "private_keys: [{ env: KEY }]"], "private_keys: stands beside private_key"),
            ([tls, "client_certificate: c.pem", "private_keys: [{ env: KEY }]"], "private_keys: belongs to"),
            ([assertion, key, secret], "client_secret: is never sent"),
            ([assertion, key, "client_certificate: c.pem"], "client_certificate: is not used"),
            ([assertion, key, "assertion_audience: issuer"], "assertion_audience: names the issuer, which is missing"),
            ([assertion, key, "assertion_audience: issuer", "issuer: https://login.acme.example"], nil),
            ([tls, "client_certificate: c.pem"], nil), ([tls, "client_certificate: c.pem", key], nil),
            ([tls], "client_certificate: is missing"), ([tls, "client_certificate: c.pem", secret], "is never sent"),
            ([secret, key], "private_key: is not used"),
            ([secret, "assertion_audience: token_endpoint"], "assertion_audience: belongs to"),
            (["token_endpoint_auth_method: none"], nil), (["token_endpoint_auth_method: none", "pkce: required"], nil),
            (["token_endpoint_auth_method: none", "pkce: optional"], "pkce: a client that shows no secret must use"),
            (["token_endpoint_auth_method: none", "pkce: unsupported"], "pkce: a client that shows no secret must"),
            ([secret, "pkce: unsupported"], nil),
            (["token_endpoint_auth_method: none", secret], "client_secret: is never sent"),
        ]
        for (lines, expected) in rows {
            let provider = SampleSettings.provider.replacing("    client_secret: { env: ACME_SECRET }\n", with: "")
            let text = SampleSettings.head + provider + lines.map { "    \($0)\n" }.joined()
            let found = SampleSettings.errors(text, variables: ["KEY": "-----BEGIN PRIVATE KEY-----"])
            #expect(found.count == (expected == nil ? 0 : 1), "\(lines): \(found)")
            if let expected { #expect(found.first?.contains(expected) == true, "\(lines): \(found)") }
        }
    }
}
