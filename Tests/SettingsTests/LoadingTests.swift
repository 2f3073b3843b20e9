// SPDX-License-Identifier: Apache-2.0
@testable import Settings
import Testing

@Suite("Reading a configuration")
struct LoadingTests {
    @Test("what is left out has the contract's default")
    func defaults() throws {
        let settings = try SampleSettings.read(SampleSettings.head + SampleSettings.provider).settings
        #expect(settings.server.listen == ListenAddress(host: "127.0.0.1", port: 8080))
        #expect(settings.server.adminListen == ListenAddress(host: "127.0.0.1", port: 9090))
        #expect(settings.server.publicURL == "http://127.0.0.1:8080")
        #expect(
            settings.server.limits
                == ServerLimits(
                    body: 65536, headers: 16384, connections: 10000, headTimeout: .seconds(10),
                    bodyTimeout: .seconds(20), idleTimeout: .seconds(30),
                    requestsPerCaller: Rate(count: 1000, period: .seconds(1)),
                    exchangesPerSubject: Rate(count: 10, period: .seconds(600)),
                    failedLoginsPerAddress: Rate(count: 20, period: .seconds(60))))
        #expect(settings.server.shutdownGrace == .seconds(75))
        #expect(settings.store.location == .sqlite(path: "conf/var/consents.db"))
        #expect(settings.store.migrate == .auto)
        #expect(settings.stateDirectory == "conf/var")
        #expect(settings.vault.keys == .file(path: "conf/var/keys.json"))
        #expect(settings.refresh.isEnabled && settings.refresh.concurrency == 64)
        #expect(settings.refresh.lease == .seconds(120))
        #expect(settings.retention.evidence == .seconds(6 * 365 * 86400))
        #expect(settings.logging.level == .info && settings.logging.format == .text)
    }

    @Test("a provider without a preset has the contract's defaults")
    func providerDefaults() throws {
        let settings = try SampleSettings.read(SampleSettings.head + SampleSettings.provider).settings
        let provider = try #require(settings.provider(named: "acme"))
        #expect(provider.preset == nil && provider.environment == nil)
        #expect(provider.endpoints.token == "https://login.acme.example/token")
        #expect(provider.client.authentication == .basic && provider.client.basicEncoding == .rfc6749)
        #expect(provider.client.secrets.map { $0.reveal() } == ["s3cr3t-canary"])
        #expect(provider.pkce == .required && provider.nonce == .optional)
        #expect(provider.refreshTokenReuse == .forbidden && provider.revocationScope == .token)
        #expect(provider.refresh == RefreshPolicySettings(policy: .keepAlive, interval: .seconds(30 * 86400)))
        #expect(
            provider.timeouts
                == ProviderTimeouts(connect: .seconds(3), total: .seconds(10), answer: .seconds(60)))
        #expect(!provider.handsOutAccessTokens && !provider.connection.http2)
        #expect(provider.profile.name == "generic")
    }

    @Test(
        "the preset paypal fills in all but the credentials",
        arguments: [
            ("live", "https://api-m.paypal.com", "https://www.paypal.com/signin/authorize"),
            ("sandbox", "https://api-m.sandbox.paypal.com", "https://www.sandbox.paypal.com/signin/authorize"),
        ])
    func paypal(environment: String, host: String, authorization: String) throws {
        let provider = try paypalProvider("environment: \(environment)")
        #expect(provider.endpoints.token == host + "/v1/oauth2/token")
        #expect(provider.endpoints.userinfo == host + "/v1/identity/openidconnect/userinfo/?schema=openid")
        #expect(provider.endpoints.authorization == authorization)
        #expect(provider.pkce == .unsupported && provider.idToken == .ignored)
        #expect(provider.environment?.rawValue == environment)
        #expect(
            provider.profile.sdkCodeParameters == [
                NamedText(name: "response_type", text: "token"),
                NamedText(name: "redirect_uri", text: "urn:ietf:wg:oauth:2.0:oob"),
            ])
    }

    @Test("the mock environment is where api_url says, and the newer schema has its own address")
    func mock() throws {
        let provider = try paypalProvider(
            "environment: mock", "api_url: http://127.0.0.1:9400/", "userinfo_schema: paypalv1.1")
        #expect(provider.endpoints.token == "http://127.0.0.1:9400/v1/oauth2/token")
        #expect(provider.endpoints.userinfo == "http://127.0.0.1:9400/v1/identity/oauth2/userinfo?schema=paypalv1.1")
        #expect(provider.profile.mockCodeReservation == .seconds(60))
    }

    private func paypalProvider(_ lines: String...) throws -> ProviderSettings {
        let text = """
            providers:
              paypal:
                preset: paypal
                client_id: { env: PAYPAL_CLIENT_ID }
                client_secret: { env: ACME_SECRET }

            """ + lines.map { "    \($0)\n" }.joined()
        let settings = try SampleSettings.read(
            SampleSettings.head + text, variables: ["PAYPAL_CLIENT_ID": "client"]
        ).settings
        let provider = try #require(settings.provider(named: "paypal"))
        #expect(provider.client.id == "client")
        return provider
    }

    @Test("--config comes before CONSENT_GATEWAY_CONFIG, and that before Config/gateway.yaml")
    func lookup() {
        let environment = ["CONSENT_GATEWAY_CONFIG": "b.yaml"]
        #expect(SettingsLoader.filePath(option: "a.yaml", environment: environment) == "a.yaml")
        #expect(SettingsLoader.filePath(option: nil, environment: environment) == "b.yaml")
        #expect(SettingsLoader.filePath(option: nil, environment: [:]) == "Config/gateway.yaml")
    }

    @Test("a file that is not there is an error with its name")
    func missingFile() {
        let message = "nowhere.yaml: no such file; give --config FILE or set CONSENT_GATEWAY_CONFIG"
        do {
            _ = try SettingsLoader.load(path: "nowhere.yaml", environment: [:], options: .whole)
            Issue.record("it was read")
        } catch {
            #expect(error.description == message)
        }
    }

    @Test("relative paths start at the file's folder, absolute ones stay")
    func paths() throws {
        let text = SampleSettings.withProviderLines("ca_file: /etc/ca.pem") + "state_dir: ../state\n"
        let settings = try SampleSettings.read(text).settings
        #expect(settings.stateDirectory == "conf/../state")
        #expect(settings.providers[0].connection.caFile == "/etc/ca.pem")
    }

    @Test("notices are named ID@VERSION, whatever the version looks like")
    func notices() throws {
        let text =
            SampleSettings.head + SampleSettings.provider + """
                notices:
                  - { id: signup, version: 1.10, controller: Shop, text_sha256: \(String(repeating: "AB", count: 32)) }

                """
        let notice = try #require(try SampleSettings.read(text).settings.notices.first)
        #expect(notice.reference == "signup@1.10")
        #expect(notice.textSHA256 == String(repeating: "ab", count: 32))
    }

    @Test("api keys are read with their digest and scopes")
    func apiKeys() throws {
        let text =
            SampleSettings.head + SampleSettings.provider + """
                auth:
                  api_keys:
                    - { name: backend, sha256: \(String(repeating: "0f", count: 32)), scopes: ["consents:read"] }

                """
        let keys = try SampleSettings.read(text).settings.auth.apiKeys
        let line = text.split(separator: "\n", omittingEmptySubsequences: false).count - 1
        let expected = APIKeySettings(
            name: "backend", sha256: Array(repeating: 15, count: 32), scopes: ["consents:read"],
            place: "conf/gateway.yaml:\(line): auth.api_keys[0].name")
        #expect(keys == [expected])
    }
}
