// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import NativeCurl
import NativeJOSE
import NativeJSON
import NativeSystem
import Observability
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("An issuer that cannot be asked")
struct IssuerTests {
    static let short = "timeouts: { connect: 3s, total: 6s, answer: 8s }"

    @Test("a grant whose keys cannot be had is kept: whoever waits is told so, and the same code finds it later")
    func keysLater() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        script.change { $0.keys = nil }
        let settings = script.settings(IssuerTests.short)
        try await TestGateway.with(provider: script.url, sections: settings) { gateway async throws in
            let first = try await gateway.exchange("c-canary-1")
            #expect(first.status == 503 && first.code == "exchange_pending")
            let key = try SigningKeys.key(SigningKeys.rsa, .rs256)
            script.change { $0.keys = [key.publicJWK] }
            let later = try await gateway.exchangeInTheEnd("c-canary-1")
            #expect(later.status == 201 || later.status == 200, "\(later.status)")
            #expect(later.json["provider_subject"]?.string == "s-canary-1")
            #expect(script.count(of: "/token") == 1)
            #expect(script.count(of: "/revoke") == 0)
        }
    }

    @Test("a process that ends before the keys come leaves the grant to the next one, with its nonce")
    func crash() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        script.change { $0.keys = nil }
        let settings = script.settings(IssuerTests.short)
        try await TestGateway.inFolder(provider: script.url, sections: settings) { folder in
            try await TestGateway.living(in: folder) { gateway async throws in
                for (code, nonce) in [("c-canary-1", "nonce-canary-1"), ("c-canary-2", "another")] {
                    #expect(try await gateway.exchange(code, nonce: nonce).code == "exchange_pending")
                }
            }
            let key = try SigningKeys.key(SigningKeys.rsa, .rs256)
            script.change { $0.keys = [key.publicJWK] }
            try await TestGateway.living(in: folder) { gateway async throws in
                let good = try await gateway.exchangeInTheEnd("c-canary-1")
                #expect(good.status == 200 && good.json["provider_subject"]?.string == "s-canary-1")
                #expect(try await gateway.exchangeInTheEnd("c-canary-2").code == "id_token_invalid")
            }
            #expect(script.count(of: "/token") == 2)
        }
    }

    @Test("without discovery a code is unspent and never left; with it the same code is exchanged")
    func discoveryLater() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        script.change { $0.metadata = nil }
        try await TestGateway.with(provider: script.url, sections: script.settings(IssuerTests.short)) {
            gateway async throws in
            let first = try await gateway.exchange("c-canary-1")
            #expect(first.status == 503 && first.code == "provider_unavailable")
            #expect(first.headers["retry-after"] != nil)
            #expect(script.count(of: "/token") == 0)
            script.change { $0.metadata = [:] }
            #expect(try await gateway.exchangeInTheEnd("c-canary-1").status == 201)
        }
    }

    @Test("endpoints of the configuration win over the issuer's word")
    func configured() async throws {
        let script = try OpenIDScript()
        let other = try OpenIDScript()
        defer {
            script.provider.stop()
            other.provider.stop()
        }
        script.change { $0.userinfo = { _ in .http(200, OpenIDScript.person()) } }
        let settings = script.settings("userinfo_endpoint: \(other.url)/userinfo")
        try await TestGateway.with(provider: script.url, sections: settings) { gateway async throws in
            #expect(try await gateway.exchange("c-canary-1").status == 201)
            #expect(script.count(of: "/userinfo") == 0 && other.count(of: "/userinfo") == 1)
        }
    }

    @Test(
        "a place that the issuer tells of and that is not its own is not asked",
        arguments: ["http://169.254.169.254/keys", "https://10.1.2.3/keys", "http://evil.example/keys"])
    func innerPlaces(url: String) async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        script.change { $0.metadata = ["jwks_uri": JSONValue(url)] }
        try await TestGateway.with(provider: script.url, sections: script.settings(IssuerTests.short)) {
            gateway async throws in
            #expect(try await gateway.exchange("c-canary-1").code == "exchange_pending")
            let output = await CheckCommand.run(
                configPath: gateway.folder + "/gateway.yaml", environment: [:], json: false)
            #expect(output.status == .partlyDone)
            #expect(output.text.contains("providers.acme: jwks_uri: is not taken:"), "\(output.text)")
        }
    }

    @Test("check says what the issuer tells, what matches and what would fail, a line each")
    func check() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        let settings = script.settings("id_token_algorithms: [RS256, ES256]")
            .replacing("pkce: optional", with: "pkce: required")
        try await TestGateway.with(provider: script.url, sections: settings) { gateway async throws in
            let path = gateway.folder + "/gateway.yaml"
            let good = await CheckCommand.run(configPath: path, environment: [:], json: false)
            #expect(good.status == .done, "\(good.text)")
            for line in [
                "providers.acme: token_endpoint: \(script.url)/token, by discovery",
                "providers.acme: token_endpoint_auth_method: client_secret_basic is taken",
                "providers.acme: scopes: all are told by the provider",
                "providers.acme: id_token_algorithms: the provider signs with RS256, ES256",
                "providers.acme: keys: 1 of 1 keys can be used, for RS256",
            ] {
                #expect(good.text.contains(line + "\n"), "\(line) is not in\n\(good.text)")
            }
            script.change {
                $0.metadata = [
                    "token_endpoint_auth_methods_supported": ["private_key_jwt"], "scopes_supported": ["openid"],
                    "id_token_signing_alg_values_supported": ["ES512"], "userinfo_endpoint": "ftp://x.example/",
                    "code_challenge_methods_supported": ["plain"],
                ]
            }
            let bad = await CheckCommand.run(configPath: path, environment: [:], json: false)
            #expect(bad.status == .partlyDone)
            for part in [
                "userinfo_endpoint: is not taken", "client_secret_basic is not among private_key_jwt",
                "scopes: email is not told", "signs with ES512, of which none is allowed",
                "pkce: the provider does not tell that it takes S256",
            ] {
                #expect(bad.text.contains(part), "\(part) is not in\n\(bad.text)")
            }
        }
    }

    @Test("check and the metrics tell how far a provider's clock is off, and check of an iss beside the code")
    func clock() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        script.change { behaviour in
            behaviour.metadata = ["authorization_response_iss_parameter_supported": true]
            behaviour.fields = ["Date: Sun, 06 Nov 1994 08:49:37 GMT"]
        }
        try await TestGateway.with(provider: script.url, sections: script.settings()) { gateway async throws in
            let path = gateway.folder + "/gateway.yaml"
            let output = await CheckCommand.run(configPath: path, environment: [:], json: false)
            #expect(output.text.contains("providers.acme: iss: the provider names its issuer beside the code"))
            let line = output.text.split(separator: "\n").first { $0.contains("providers.acme: clock: ") } ?? ""
            #expect(line.contains(/the provider's is \d{9,} s behind ours/), "\(output.text)")
            #expect(output.status == .done, "\(output.text)")
            #expect(try await gateway.exchange("c-canary-1").status == 201)
            let place = gateway.serving.place
            let readings = GatewayReadings.clocks(gateway.serving.gateway)
            let page = await MetricsPage(place.metrics, readings: readings).text()
            let name = #"consent_gateway_provider_clock_offset_seconds{provider="acme"} -"#
            #expect(page.contains(name), "\(page)")
        }
    }
}
