// SPDX-License-Identifier: Apache-2.0
import Glibc
import Settings
import Testing

@Suite("Secrets of the configuration")
struct SecretTests {
    /// A file of its own that goes when the test does.
    private final class File {
        let path: String
        init(_ text: String) {
            var template = Array("/tmp/consent-secret-XXXXXX".utf8CString)
            let descriptor = template.withUnsafeMutableBufferPointer { mkstemp($0.baseAddress!) }
            path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
            close(descriptor)
            write(text)
        }
        func write(_ text: String) {
            let descriptor = open(path, O_WRONLY | O_TRUNC)
            _ = Array(text.utf8).withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            close(descriptor)
        }
        deinit { unlink(path) }
    }

    private func sample(_ secret: String) -> String {
        SampleSettings.head + SampleSettings.provider.replacing("{ env: ACME_SECRET }", with: secret)
    }

    private func secret(_ written: String) throws -> SettingsSecret {
        try #require(try SampleSettings.read(sample(written)).settings.providers.first?.client.secrets.first)
    }

    @Test("a file is taken whole less one final newline", arguments: [("a\n", "a"), ("a\n\n", "a\n"), (" a", " a")])
    func file(content: String, expected: String) throws {
        let file = File(content)
        #expect(try secret("{ file: \(file.path) }").reveal() == expected)
    }

    @Test("a command's output is taken likewise, without a shell")
    func command() throws {
        #expect(try secret(#"{ command: [printf, "%s\n", "$HOME; x"] }"#).reveal() == "$HOME; x")
    }

    @Test("a secret is read again where it is kept")
    func again() throws {
        let file = File("old\n")
        let first = try secret("{ file: \(file.path) }")
        file.write("new\n")
        #expect(first.reveal() == "old")
        #expect(try first.readAgain(environment: [:]).reveal() == "new")
        #expect(try SettingsSecret("x", from: .literal).readAgain(environment: [:]).reveal() == "x")
    }

    @Test("a literal secret is taken with a warning that does not show it")
    func literal() throws {
        let loaded = try SampleSettings.read(sample("hunter2-canary"))
        #expect(loaded.settings.providers[0].client.secrets[0].reveal() == "hunter2-canary")
        #expect(
            loaded.warnings.map(\.description) == [
                "conf/gateway.yaml:7: providers.acme.client_secret: a secret stands in the file; "
                    + "write {env: NAME}, {file: PATH} or {command: […]}"
            ])
    }

    @Test("a URL is a secret where it holds a password")
    func urls() throws {
        let proxied = SampleSettings.withProviderLines("proxy: http://user:hunter2-canary@proxy.example:3128")
        let loaded = try SampleSettings.read(proxied)
        #expect(loaded.warnings.map(\.keyPath) == ["providers.acme.proxy"])
        #expect(!"\(loaded)".contains("hunter2-canary"))
        let plain = try SampleSettings.read(SampleSettings.withProviderLines("proxy: http://proxy.example:3128"))
        #expect(plain.warnings.isEmpty)
    }

    @Test(
        "a secret that cannot be had is an error that says why",
        arguments: [
            ("{ env: NOT_SET }", "the environment variable NOT_SET is not set; set it"),
            ("{ env: EMPTY }", "the secret is empty; put it where the setting points to"),
            ("{ file: /nowhere/at/all }", "cannot read the file /nowhere/at/all: no such file"),
            ("{ file: here }", "cannot read the file conf/here: no such file"),
            ("{ command: [sh, -c, 'echo hunter2-canary; exit 3'] }", "the command sh ended with status 3"),
            ("{ env: A, file: b }", "must have exactly one of env, file and command"),
            ("{}", "must have exactly one of env, file and command"),
            ("''", "is empty; give a value or leave the key out"),
            ("[a]", "must hold keys and values"),
        ])
    func failures(written: String, message: String) throws {
        let errors = SampleSettings.errors(sample(written), variables: ["EMPTY": ""])
        #expect(errors.count == 1 || written == "[a]")
        #expect(errors.first == "conf/gateway.yaml:7: providers.acme.client_secret: \(message)")
    }

    @Test(
        "entries of a list that cannot be had are one error each, and the list is not called empty",
        arguments: [
            ("client_secret: { env: ACME_SECRET }", "client_secrets: [{ env: NEW }, { env: OLD }]", "client_secrets"),
            (
                "client_secret: { env: ACME_SECRET }",
                "private_keys: [{ env: NEW }, { env: OLD }]\n    token_endpoint_auth_method: private_key_jwt",
                "private_keys"
            ),
        ])
    func lists(one: String, many: String, key: String) {
        let errors = SampleSettings.errors(
            (SampleSettings.head + SampleSettings.provider).replacing(one, with: many))
        let place = "conf/gateway.yaml:7: providers.acme.\(key)"
        #expect(
            errors == [
                "\(place)[0]: the environment variable NEW is not set; set it",
                "\(place)[1]: the environment variable OLD is not set; set it",
            ])
        let empty = (SampleSettings.head + SampleSettings.provider).replacing(one, with: "client_secrets: []")
        #expect(
            SampleSettings.errors(empty) == [
                "conf/gateway.yaml:7: providers.acme.client_secrets: must not be an empty list"
            ])
    }

    @Test("a mistyped source is named with the nearest one")
    func mistyped() {
        let errors = SampleSettings.errors(sample("{ fil: x }"))
        #expect(errors == ["conf/gateway.yaml:7: providers.acme.client_secret.fil: unknown key; did you mean file?"])
    }

    @Test("a secret does not print, however it is looked at")
    func silent() {
        let secret = SettingsSecret("hunter2-canary", from: .literal)
        var dumped = ""
        dump(secret, to: &dumped)
        for text in [
            "\(secret)", String(reflecting: secret), dumped, "\([secret])", "\(Mirror(reflecting: secret).children)",
        ] {
            #expect(!text.contains("hunter2-canary"))
        }
    }

    @Test("without reading secrets none is missing")
    func unread() {
        #expect(SampleSettings.errors(sample("{ env: NOT_SET }"), options: .withoutSecrets).isEmpty)
    }
}
