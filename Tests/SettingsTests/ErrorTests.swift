// SPDX-License-Identifier: Apache-2.0
import Settings
import Testing

@Suite("Errors of a configuration")
struct ErrorTests {
    @Test("an unknown key is named with file, line, key path and the nearest known key")
    func unknownKey() {
        let errors = SampleSettings.errors(SampleSettings.withProviderLines("client_idd: x"))
        #expect(errors == ["conf/gateway.yaml:9: providers.acme.client_idd: unknown key; did you mean client_id?"])
    }

    @Test("a key like no other is answered with those that are known")
    func strangeKey() {
        let errors = SampleSettings.errors(SampleSettings.head + SampleSettings.provider + "logging: { colour: x }\n")
        #expect(errors == ["conf/gateway.yaml:9: logging.colour: unknown key; known here: format, level"])
    }

    @Test("one run finds every error, by line")
    func allAtOnce() {
        let text = """
            store: { url: "sqlite:c.db", migrate: automatic }
            vault: { keys: { file: k } }
            server:
              listen: localhost
              shutdown_grace: 75
              limits: { body: 64kb, connections: many }
              sleep: 3
            providers:
              acme: { token_endpoint: "http://acme.example/t", client_id: a, client_secret: { env: NOPE }, http2: yes,
                id_token: ignored }

            """
        #expect(
            SampleSettings.errors(text).map { $0.split(separator: ": ").prefix(2).joined(separator: ": ") } == [
                "conf/gateway.yaml:1: store.migrate",
                "conf/gateway.yaml:4: server.listen",
                "conf/gateway.yaml:5: server.shutdown_grace",
                "conf/gateway.yaml:6: server.limits.body",
                "conf/gateway.yaml:6: server.limits.connections",
                "conf/gateway.yaml:7: server.sleep",
                "conf/gateway.yaml:9: providers.acme.token_endpoint",
                "conf/gateway.yaml:9: providers.acme.client_secret",
                "conf/gateway.yaml:9: providers.acme.http2",
            ])
    }

    @Test(
        "an address past the pooler is a PostgreSQL database's, and a file has none",
        arguments: [
            ("sqlite:c.db", "postgres://db/c", "goes past a pooler of PostgreSQL's; a SQLite file has none"),
            ("postgres://pooler/c", "mysql://db/c", "is no PostgreSQL database; write postgres://user@host/database"),
        ])
    func directURL(_ url: String, _ direct: String, _ sentence: String) {
        let text = """
            store: { url: "\(url)", direct_url: "\(direct)" }
            state_dir: .
            vault: { keys: { file: k } }

            """
        #expect(
            SampleSettings.errors(text + SampleSettings.provider) == [
                "conf/gateway.yaml:1: store.direct_url: \(sentence)"
            ])
    }

    @Test("no error shows the value that is wrong")
    func harmless() {
        let lines = [
            "client_secrets: hunter2-canary", "proxy: 'hunter2-canary x'", "pkce: hunter2-canary",
            "timeouts: { total: hunter2-canary }",
            "redirect_uri: hunter2-canary", "scopes: hunter2-canary", "refresh_token_reuse: hunter2-canary",
            "http2: hunter2-canary",
        ]
        for line in lines {
            let errors = SampleSettings.errors(SampleSettings.withProviderLines(line))
            #expect(!errors.isEmpty, "\(line)")
            #expect(!errors.joined().contains("hunter2-canary"), "\(errors)")
        }
    }

    @Test("a key that is empty, or that a terminal would obey, is named so that people can read it")
    func oddKeys() {
        let lines = #""": 1"# + "\n" + #""a\nb\e[31m\u202E": 1"# + "\n"
        let errors = SampleSettings.errors(SampleSettings.head + SampleSettings.provider + lines)
        #expect(
            errors.map { $0.split(separator: ";").first ?? "" } == [
                #"conf/gateway.yaml:9: "": unknown key"#,
                #"conf/gateway.yaml:10: a\u{A}b\u{1B}[31m\u{202E}: unknown key"#,
            ])
        let twice = SampleSettings.errors("\"a\\r\": 1\n\"a\\r\": 2\n")
        #expect(twice == [#"conf/gateway.yaml:2: column 1: the key a\u{D} stands here twice"#])
    }

    @Test("what is no YAML is one error with its line")
    func noYAML() {
        #expect(SampleSettings.errors("a: 1\na: 2\n") == ["conf/gateway.yaml:2: column 1: the key a stands here twice"])
    }

    @Test("an empty file misses what must be there")
    func empty() {
        let paths = ["store.url", "vault.keys"]
        let errors = SampleSettings.errors("")
        #expect(errors.count == paths.count)
        for (error, path) in zip(errors, paths) { #expect(error.hasPrefix("conf/gateway.yaml: \(path): is missing")) }
    }

    @Test(
        "what goes together is checked together",
        arguments: [
            ("timeouts: { answer: 90s }", "refresh.lease: is under connect + answer + 30s"),
            ("timeouts: { answer: 90s }", "server.shutdown_grace: is under connect + answer + 5s"),
            ("timeouts: { connect: 11s }", "timeouts.connect: is over total"),
            ("timeouts: { total: 61s }", "timeouts.answer: is under total"),
            ("{idle: 40d}", "refresh.interval: is over half of idle_life"),
            ("environment: mock", "environment: belongs to a preset"),
            ("client_secrets: [{ env: ACME_SECRET }]", "client_secrets: stands beside client_secret"),
            ("token_endpoint_auth_method: none", "client_secret: is never sent"),
            ("redirect_uri: http://shop.example/cb", "redirect_uri: plain http is for this machine only"),
            ("redirect_uris: ['https://shop.example/cb#x']", "redirect_uris[0]: must not have a fragment"),
            ("userinfo_endpoint: http://10.0.0.1/u", "userinfo_endpoint: plain http is for this machine only"),
            ("userinfo_endpoint: https://a:b@acme.example/u", "userinfo_endpoint: must not hold a user"),
            ("id_token_algorithms: [HS256]", "id_token_algorithms[0]: is signed with a shared secret"),
            ("id_token_algorithms: [none]", "id_token_algorithms[0]: is not known"),
            ("preset: paypall", "preset: is not known; did you mean paypal?"),
            ("preset: paypal", "environment: is missing; write one of live, sandbox, mock"),
            ("scopes: ['openid email']", "scopes[0]: is no scope"),
            ("basic_encoding: rfc6479", "basic_encoding: must be one of rfc6749, raw; did you mean rfc6749?"),
            ("refresh_token_reuse: { grace: 0s }", "refresh_token_reuse.grace: is no duration"),
        ])
    func crossChecks(line: String, expected: String) {
        let lines = line == "{idle: 40d}" ? "idle_life: 40d\n    refresh: { interval: 21d }" : line
        let errors = SampleSettings.errors(SampleSettings.withProviderLines(lines))
        #expect(errors.contains { $0.contains(expected) }, "\(errors)")
    }

    @Test(
        "sections of their own are checked too",
        arguments: [
            ("server: { listen: '127.0.0.1:9090' }", "server.admin_listen: is the same address as listen"),
            ("server: { public_url: 'ftp://x' }", "server.public_url: is no address of a gateway"),
            ("server: { admin_hosts: ['a:1'] }", "server.admin_hosts[0]: is no host name"),
            (
                "notices: [{ id: a, version: 1, controller: c }, { id: a, version: 1, controller: c }]",
                "notices[1]: the notice a@1 stands here twice"
            ),
            (
                "auth: { api_keys: [{ name: a_b, sha256: x, scopes: [read] }] }",
                "auth.api_keys[0].name: must be letters"
            ),
            (
                "auth: { api_keys: [{ name: a_b, sha256: x, scopes: [read] }] }",
                "auth.api_keys[0].sha256: is no SHA-256"
            ),
            (
                "auth: { api_keys: [{ name: a_b, sha256: x, scopes: [read] }] }",
                "auth.api_keys[0].scopes[0]: is not known"
            ),
            (
                "auth: { jwt: [{ issuer: a, audience: b, jwks_uri: 'https://a/k', algorithms: [HS512] }] }",
                "auth.jwt[0].algorithms[0]: is signed with a shared secret"
            ),
            ("auth: { jwt: [{ issuer: a, audience: b }, { issuer: c }] }", "auth.jwt: with more than one entry"),
            ("auth: { jwt: [{ issuer: a, audience: b }, { issuer: c }] }", "auth.jwt[1].audience: is missing"),
            ("auth: { jwt: [{ issuer: a, audience: b }] }", "auth.jwt[0].jwks_uri: is missing"),
        ])
    func otherSections(line: String, expected: String) {
        let errors = SampleSettings.errors(SampleSettings.head + SampleSettings.provider + line + "\n")
        #expect(errors.contains { $0.contains(expected) }, "\(errors)")
    }

    @Test("a preset that is not known is one error, not many")
    func unknownPreset() {
        let text =
            SampleSettings.head + "providers:\n  p: { preset: payal, environment: live, client_id: a, "
            + "client_secret: { env: ACME_SECRET } }\n"
        #expect(
            SampleSettings.errors(text) == [
                "conf/gateway.yaml:4: providers.p.preset: is not known; did you mean paypal?"
            ])
    }

    @Test("two providers whose names make one variable are refused")
    func oneVariable() {
        let names = ["a-b", "a_b"].map { name in
            "  \(name): { token_endpoint: 'https://a.example/t', client_id: a, id_token: ignored, "
                + "client_secret: { env: ACME_SECRET } }\n"
        }
        let errors = SampleSettings.errors(SampleSettings.head + "providers:\n" + names.joined())
        #expect(errors.count == 1)
        #expect(errors.first?.hasPrefix("conf/gateway.yaml:5: providers.a_b: another provider's name") == true)
    }

    @Test("PostgreSQL needs a folder for its state")
    func postgres() {
        let text = """
            store: { url: postgres://gateway@db.example/consents }
            vault: { keys: { file: k } }

            """
        let options = SettingsOptions(readsSecrets: true, refusesNotYetBuilt: false)
        let errors = SampleSettings.errors(text + SampleSettings.provider, options: options)
        #expect(errors.count == 1)
        #expect(errors[0].contains("state_dir: is missing; with PostgreSQL"))
    }
}
