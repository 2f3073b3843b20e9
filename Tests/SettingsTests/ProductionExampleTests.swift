// SPDX-License-Identifier: Apache-2.0
import NativeSystem
import Testing

@testable import Settings

@Suite("production.example.yaml with its secrets given") struct ProductionExampleTests {
    private static let environment = [
        "CONSENT_STORE_URL": "postgres://gateway:store-canary@pooler.example/consents",
        "CONSENT_STORE_DIRECT_URL": "postgres://gateway:store-canary@db.example/consents",
        "PAYPAL_CLIENT_ID": "shop-id",
        "PAYPAL_CLIENT_SECRET": "paypal-canary", "ACME_SECRET": "acme-new-canary", "ACME_SECRET_OLD": "acme-old-canary",
        "HOOK_SECRET": "hook-canary", "AUDIT_SECRET": "audit-new-canary", "AUDIT_SECRET_OLD": "audit-old-canary",
    ]

    /// Loads the example, its private files in a folder of the test's.
    private func load(refusesNotYetBuilt: Bool) throws -> Result<LoadedSettings, SettingsErrors> {
        let folder = try makeTemporaryFolder(prefix: "consent-gateway-test-", in: "/tmp")
        defer { removeFolder(at: folder) }
        for (name, text) in [
            ("partner-key", "partner-canary"), ("partner-key-old", "partner-old-canary"), ("bank-key", "bank-canary"),
        ] {
            try createFile(Array("\(text)\n".utf8), at: folder + "/\(name).pem", permissions: 0o600)
        }
        try createFile(Array("{}\n".utf8), at: folder + "/partner-jwks.json", permissions: 0o600)
        let example = String(decoding: try SampleSettings.file("Config/production.example.yaml"), as: UTF8.self)
        let text = example.replacing("/etc/consent-gateway", with: folder)
        return Result { () throws(SettingsErrors) in
            try SettingsLoader.parse(
                Array(text.utf8), file: "p.yaml", environment: Self.environment,
                options: SettingsOptions(readsSecrets: true, refusesNotYetBuilt: refusesNotYetBuilt))
        }
    }

    @Test("it loads without a warning, each secret where it belongs")
    func loads() throws {
        let loaded = try load(refusesNotYetBuilt: false).get()
        #expect(loaded.warnings.isEmpty)
        #expect(loaded.settings.store.directURL?.reveal().contains("@db.example/") == true)
        let providers = loaded.settings.providers
        #expect(
            providers.map { $0.client.secrets.map { $0.reveal() } } == [
                ["paypal-canary"], ["acme-new-canary", "acme-old-canary"], [], [],
            ])
        #expect(
            providers.map { $0.client.privateKeys.map { $0.reveal() } } == [
                [], [], ["partner-canary", "partner-old-canary"], ["bank-canary"],
            ])
        #expect(
            loaded.settings.webhooks.map { $0.secrets.map { $0.reveal() } } == [
                ["hook-canary"], ["audit-new-canary", "audit-old-canary"],
            ])
    }

    @Test("nothing is refused in it but what is not built yet")
    func refused() throws {
        let known = Set(NotYetBuilt.all.map(\.sentence))
        guard case .failure(let errors) = try load(refusesNotYetBuilt: true) else { return }
        for entry in errors.entries { #expect(known.contains(entry.message), "\(entry)") }
    }
}
