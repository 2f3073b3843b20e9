// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Settings

@Suite("What identities need of a configuration")
struct IdentitySettingsTests {
    private static func provider(_ lines: String...) -> String {
        let further = lines.map { "    \($0)\n" }.joined()
        return SampleSettings.head + SampleSettings.provider.replacing("    id_token: ignored\n", with: further)
    }

    @Test("ID tokens need an issuer, required by default or by word")
    func issuer() {
        let bare = SampleSettings.errors(Self.provider())
        #expect(bare.count == 1 && bare.first?.contains("providers.acme.issuer: ID tokens need an issuer") == true)
        let written = SampleSettings.errors(Self.provider("id_token: optional"))
        #expect(written.first?.hasPrefix("conf/gateway.yaml:8: providers.acme.id_token: ID tokens need") == true)
        #expect(SampleSettings.errors(Self.provider("issuer: https://login.acme.example")).isEmpty)
    }

    @Test("an issuer alone is enough: the rest is discovered")
    func discovery() throws {
        let text = Self.provider("nonce: required", "trusted_audiences: [b]", "allow_hosts: [a.corp]")
            .replacing("token_endpoint: https://login.acme.example/token", with: "issuer: https://a.example")
        let provider = try #require(try SampleSettings.read(text).settings.provider(named: "acme"))
        #expect(provider.endpoints.token == nil && provider.issuer == "https://a.example")
        #expect(provider.idToken == .required && provider.nonce == .required)
        #expect(provider.onSharedSubject == .warn)
    }

    @Test("a required nonce needs ID tokens")
    func nonce() {
        let errors = SampleSettings.errors(SampleSettings.withProviderLines("nonce: required"))
        #expect(errors.count == 1 && errors.first?.contains("providers.acme.nonce: stands in ID tokens") == true)
    }

    @Test("a subject that is shared is looked for where ID tokens are read, or where it is asked for")
    func sharing() throws {
        func rule(_ text: String) throws -> ProviderSettings.OnSharedSubject? {
            try SampleSettings.read(text).settings.provider(named: "acme")?.onSharedSubject
        }
        #expect(try rule(SampleSettings.withProviderLines()) == nil)
        #expect(try rule(SampleSettings.withProviderLines("on_shared_subject: refuse")) == .refuse)
        #expect(try rule(SampleSettings.withProviderLines("on_shared_subject: warn")) == .warn)
    }

    @Test("HS256 is for profiles that allow it, and for secrets of 32 bytes and more")
    func macs() {
        let generic = SampleSettings.errors(
            Self.provider("issuer: https://login.acme.example", "id_token_algorithms: [HS256]"))
        #expect(generic.contains { $0.contains("id_token_algorithms") })
        let payPal = """
            providers:
              paypal:
                preset: paypal
                environment: sandbox
                client_id: shop
                client_secret: { env: ACME_SECRET }
                issuer: https://www.paypal.example
                id_token: required
                id_token_algorithms: [HS256]

            """
        let short = SampleSettings.errors(SampleSettings.head + payPal)
        #expect(short.count == 1 && short.first?.contains("HS256 needs a client secret of at least 32 bytes") == true)
        let long = ["ACME_SECRET": String(repeating: "k", count: 32)]
        #expect(SampleSettings.errors(SampleSettings.head + payPal, variables: long).isEmpty)
    }
}
