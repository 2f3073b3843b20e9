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
        for entry in NotYetBuilt.all {
            #expect(refused.contains(entry.sentence), "\(entry.pattern)")
        }
    }

    @Test(
        "a value that needs what is missing is refused with what to do",
        arguments: [
            (
                "authorization_parameters: { prompt: consent }",
                "authorization_parameters: hosted flows are not built yet"
            )
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
}
