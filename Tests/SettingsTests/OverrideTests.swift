// SPDX-License-Identifier: Apache-2.0
import Settings
import Testing

@Suite("Overriding by the environment")
struct OverrideTests {
    private let text = SampleSettings.head + SampleSettings.provider

    @Test("every single value can be overridden, whether the file has it or not")
    func scalars() throws {
        let variables = [
            "CONSENT_GATEWAY__STORE__URL": "sqlite:/data/c.db",
            "CONSENT_GATEWAY__SERVER__LIMITS__BODY": "32KiB",
            "CONSENT_GATEWAY__PROVIDERS__ACME__TIMEOUTS__TOTAL": "5s",
            "CONSENT_GATEWAY__PROVIDERS__ACME__CLIENT_ID": "other",
            "CONSENT_GATEWAY__PROVIDERS__ACME__CLIENT_SECRET": "from-variable",
            "CONSENT_GATEWAY__VAULT__KEYS__FILE": "/data/keys.json",
        ]
        let loaded = try SampleSettings.read(text, variables: variables)
        #expect(loaded.settings.store.location == .sqlite(path: "/data/c.db"))
        #expect(loaded.settings.server.limits.body == 32768)
        #expect(loaded.settings.providers[0].timeouts.total == .seconds(5))
        #expect(loaded.settings.providers[0].client.id == "other")
        #expect(loaded.settings.providers[0].client.secrets.map { $0.reveal() } == ["from-variable"])
        #expect(loaded.settings.vault.keys == .file(path: "/data/keys.json"))
        #expect(loaded.warnings.isEmpty)
    }

    @Test("entries of a list can be overridden by their place")
    func lists() throws {
        let loaded = try SampleSettings.read(
            SampleSettings.withProviderLines("scopes: [openid, email]"),
            variables: ["CONSENT_GATEWAY__PROVIDERS__ACME__SCOPES__1": "phone"])
        #expect(loaded.settings.providers[0].scopes == ["openid", "phone"])
    }

    @Test("a wrong override is an error that names the variable and the key")
    func wrong() {
        let errors = SampleSettings.errors(text, variables: ["CONSENT_GATEWAY__SERVER__LIMITS__BODY": "much"])
        #expect(errors.count == 1)
        #expect(errors[0].hasPrefix("CONSENT_GATEWAY__SERVER__LIMITS__BODY: server.limits.body: is no size"))
    }

    @Test("a variable for a section or list is an error: only single values are overridden")
    func sections() {
        let errors = SampleSettings.errors(text, variables: ["CONSENT_GATEWAY__SERVER__ADMIN_HOSTS": "a,b"])
        #expect(
            errors == [
                "CONSENT_GATEWAY__SERVER__ADMIN_HOSTS: server.admin_hosts: "
                    + "is no single value; variables override single values only"
            ])
    }

    @Test("a variable that names no setting is ignored with a warning, other names without one")
    func unknown() throws {
        let loaded = try SampleSettings.read(
            text,
            variables: [
                "CONSENT_GATEWAY__SERVER__LISTEM": "x", "CONSENT_GATEWAY_CONFIG": "y", "CONSENT_GATEWAYS__A": "z",
            ])
        #expect(
            loaded.warnings.map(\.description) == [
                "CONSENT_GATEWAY__SERVER__LISTEM: names no setting and is ignored; "
                    + "did you mean CONSENT_GATEWAY__SERVER__LISTEN?"
            ])
    }

    @Test("where a secret is kept may come from a variable alone")
    func secretSource() throws {
        let lines = SampleSettings.provider.split(separator: "\n").filter { !$0.contains("client_secret") }
        let bare = SampleSettings.head + lines.joined(separator: "\n") + "\n"
        let variable = "CONSENT_GATEWAY__PROVIDERS__ACME__CLIENT_SECRET"
        let loaded = try SampleSettings.read(bare, variables: [variable + "__ENV": "HELD", "HELD": "from-elsewhere"])
        #expect(loaded.settings.providers[0].client.secrets.map { $0.reveal() } == ["from-elsewhere"])
        #expect(loaded.warnings.isEmpty)
        let misspelt = SampleSettings.errors(bare, variables: [variable + "__FIEL": "secret.txt"])
        #expect(misspelt.count == 1)
        #expect(misspelt[0].hasSuffix("client_secret: must have exactly one of env, file and command"))
        let list = SampleSettings.errors(bare, variables: [variable + "S__0": "from-variable"])
        #expect(list.count == 1)
        #expect(list[0].contains("client_secrets: is not in the file; variables override the entries of a list"))
    }

    @Test("a section may come from variables alone")
    func wholeSection() throws {
        let variables = [
            "CONSENT_GATEWAY__STORE__URL": "sqlite:c.db", "CONSENT_GATEWAY__VAULT__KEYS": "keys-in-a-variable",
        ]
        let settings = try SampleSettings.read(SampleSettings.provider, variables: variables).settings
        #expect(settings.vault.keys == .environment(name: "CONSENT_GATEWAY__VAULT__KEYS"))
        #expect(settings.stateDirectory == "conf")
    }
}
