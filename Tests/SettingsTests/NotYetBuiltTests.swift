// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Settings

@Suite("What is not built yet")
struct NotYetBuiltTests {
    @Test("every setting of the table is refused by name where production.example.yaml has it")
    func example() throws {
        let text = try SampleSettings.file("Config/production.example.yaml")
        let options = SettingsOptions(readsSecrets: false, refusesNotYetBuilt: true)
        let environment = ["CONSENT_GATEWAY__STORE__URL": "postgres://gateway@db.example/consents"]
        var refused: Set<String> = []
        do {
            _ = try SettingsLoader.parse(text, file: "p.yaml", environment: environment, options: options)
        } catch {
            refused = Set(error.entries.map(\.message))
        }
        // In the example these have the value that asks for nothing.
        let silent = [
            "providers.*.issuer", "providers.*.nonce", "providers.*.trusted_audiences", "providers.*.revocation_scope",
            "providers.*.on_shared_subject", "providers.*.allow_hosts",
        ]
        for entry in NotYetBuilt.all where !silent.contains(entry.pattern) {
            #expect(refused.contains(entry.sentence), "\(entry.pattern)")
        }
    }

    @Test(
        "a value that needs what is missing is refused with what to do",
        arguments: [
            ("nonce: required", "nonce: a nonce is not checked yet"),
            ("trusted_audiences: [b]", "trusted_audiences: ID tokens are not verified yet"),
            ("revocation_scope: grant", "revocation_scope: revocation is not built yet"),
            ("on_shared_subject: refuse", "on_shared_subject: is not built yet"),
            ("allow_hosts: [a.corp]", "allow_hosts: discovery is not built yet"),
        ])
    func values(line: String, expected: String) {
        let errors = SampleSettings.errors(SampleSettings.withProviderLines(line))
        #expect(errors.count == 1)
        #expect(errors.first?.hasPrefix("conf/gateway.yaml:9: providers.acme.\(expected)") == true, "\(errors)")
    }

    @Test("a default that is written out and asks for nothing passes")
    func harmless() {
        let text = SampleSettings.withProviderLines(
            "nonce: optional", "trusted_audiences: []", "access_tokens: off", "revocation_scope: token",
            "allow_hosts: []",
            "on_shared_subject: warn", "authorization_parameters: {}", "issuer: https://login.acme.example")
        let lists = "apps: []\nwebhooks: []\nauth: { jwt: [], api_keys: [] }\nserver: { trusted_proxies: [] }\n"
        #expect(SampleSettings.errors(text + lists).isEmpty)
    }

    @Test("an ID token that is required by default is refused too")
    func idToken() {
        let text = SampleSettings.head + SampleSettings.provider.replacing("    id_token: ignored\n", with: "")
        #expect(
            SampleSettings.errors(text) == [
                "conf/gateway.yaml:4: providers.acme.id_token: "
                    + "ID tokens are not verified yet; write id_token: ignored, and userinfo tells who it is"
            ])
        let written = SampleSettings.head + SampleSettings.provider.replacing("ignored", with: "optional")
        #expect(SampleSettings.errors(written).first?.hasPrefix("conf/gateway.yaml:8: providers.acme.id_token") == true)
    }

    @Test("an issuer without endpoints needs discovery")
    func issuer() {
        let text =
            SampleSettings.head
            + SampleSettings.provider.replacing(
                "token_endpoint: https://login.acme.example/token", with: "issuer: https://a.example")
        #expect(
            SampleSettings.errors(text).map { $0.contains("providers.acme.issuer: discovery is not built") } == [true])
    }
}
