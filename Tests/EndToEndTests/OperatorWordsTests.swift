// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents
import NativeSQLite
import NativeSystem
import Settings
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("What an operator is told")
struct OperatorWordsTests {
    /// What the command says, on the gateway's own store.
    private func list(_ filter: ConsentFilter, at gateway: TestGateway) async -> CommandOutput {
        let records = RecordCommands(place: gateway.serving.place, gateway: gateway.serving.gateway, json: false)
        return await LoopLauncher(loops: gateway.serving.place.loops).result { await records.list(filter) }
    }

    /// Runs `body` with the file of the configuration changed, and changes it back.
    private func changing<Value>(
        _ folder: String, _ from: String, to: String, _ body: (String) async throws -> Value
    ) async throws -> Value {
        let path = folder + "/gateway.yaml"
        let before = try readFile(at: path, limit: 1 << 16).bytes
        let text = String(decoding: before, as: UTF8.self).replacing(from, with: to)
        try replaceFile(Array(text.utf8), at: path, permissions: 0o600)
        let value = try await body(path)
        try replaceFile(before, at: path, permissions: 0o600)
        return value
    }

    @Test("check names a provider that live consents have and the configuration has not, and its records stay listable")
    func stranded() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.inFolder(provider: script.provider.url) { folder in
            try await TestGateway.living(in: folder) { gateway in
                for subject in ["u-1", "u-2"] { _ = try await gateway.post(code: "c-\(subject)", subject: subject) }
            }
            for (from, to, fault) in [
                ("environment: sandbox", "environment: mock", "but it is configured as mock:"),
                ("  paypal:", "  other:", "but it is not configured:"),
            ] {
                try await changing(folder, from, to: to) { path in
                    let output = await CheckCommand.run(configPath: path, environment: [:], json: false)
                    let line = "warning  providers.paypal (sandbox): 2 live consents in the store, \(fault)"
                    #expect(output.text.contains(line), "\(output.text)")
                    #expect(output.status == .done)
                }
            }
            let good = await CheckCommand.run(configPath: folder + "/gateway.yaml", environment: [:], json: false)
            #expect(!good.text.contains("live consents"), "\(good.text)")
            try await changing(folder, "  paypal:", to: "  other:") { _ in
                try await TestGateway.living(in: folder) { gateway in
                    let kept = await list(ConsentFilter(provider: "paypal"), at: gateway)
                    #expect(kept.status == .done && kept.text.contains("cns_"), "\(kept.errors)")
                    let empty = await list(ConsentFilter(provider: "other"), at: gateway)
                    #expect(empty.status == .done)
                    var filter = ConsentFilter(provider: "paypal")
                    filter.status = .revoked
                    #expect(await list(filter, at: gateway).status == .done)
                    let unknown = await list(ConsentFilter(provider: "payapl"), at: gateway)
                    #expect(unknown.status == .usage)
                    #expect(unknown.errors.contains("no provider 'payapl' in the configuration; it has other"))
                }
            }
        }
    }

    @Test("a key that is revoked already is told so, and its name is not used again")
    func keys() async throws {
        try await TestGateway.with(provider: "http://127.0.0.1:1") { gateway in
            let commands = APIKeyCommands(
                place: gateway.serving.place, gateway: gateway.serving.gateway, json: false, write: { _ in true })
            let request = NewAPIKey(name: "web", scopes: [.consentsRead], lifetime: nil, outputPath: nil)
            #expect(await commands.create(request).status == .done)
            #expect(await commands.create(request).errors.contains("there is a key named 'web' already"))
            #expect(await commands.revoke("web").text.contains("is revoked; a running 'serve'"))
            let again = await commands.revoke("web")
            #expect(again.status == .done && again.text.contains("The key 'web' is revoked already, since "))
            let taken = await commands.create(request)
            #expect(taken.status == .partlyDone && taken.errors.contains("a name is not used again"))
            let missing = await commands.revoke("wbe")
            #expect(missing.status == .partlyDone && missing.errors.contains("the store has no key 'wbe'"))
        }
    }

    @Test("a store that another process holds, or that is not there, is named with its place and what to do")
    func places() async throws {
        try await TestGateway.with(provider: "http://127.0.0.1:1") { gateway in
            let holder = try SQLiteConnection(
                path: gateway.folder + "/consents.db", access: .readWrite, busyTimeout: 10_000)
            try holder.execute("BEGIN IMMEDIATE")
            let commands = APIKeyCommands(
                place: gateway.serving.place, gateway: gateway.serving.gateway, json: false, write: { _ in true })
            let output = await commands.create(
                NewAPIKey(name: "web", scopes: [.consentsRead], lifetime: nil, outputPath: nil))
            try holder.execute("ROLLBACK")
            #expect(output.status == .storeOrKeys)
            let sentence =
                "store.url: \(gateway.folder)/consents.db: the store takes no writes now: another process holds the "
                + "database; try again when it lets go"
            #expect(output.errors.contains(sentence), "\(output.errors)")
        }
        try await TestGateway.inFolder(provider: "http://127.0.0.1:1") { folder in
            let place = try Workplace.open(
                configPath: folder + "/gateway.yaml", environment: [:], loops: 1, sink: MemorySink())
            defer { place.close() }
            do throws(StartFailure) {
                await (try Gateway.open(in: place, for: .visits)).close()
                Issue.record("a store that is not there was opened")
            } catch {
                #expect(error.sentence.contains("\(folder)/consents.db: "), "\(error.sentence)")
                #expect(error.sentence.contains("is that the right place? `serve` or `migrate` makes it"))
            }
        }
    }

    @Test("provider show tells what comes by discovery, and what else is set, without a proxy's credentials")
    func show() async throws {
        let acme = """
              acme:
                issuer: https://login.acme.example
                client_id: acme
                client_secret: acme-secret
                scopes: [openid]
                rate_limit: 50/s
                profile: { max_age: 12h }
                on_shared_subject: refuse
                redirect_uris: [https://shop.example/cb, com.acme.app:/cb]
                allow_hosts: [keys.acme.internal]
                http2: true
                proxy: http://user:hunter2-canary@proxy.example:3128
                no_proxy: [.corp]
            """
        try await TestGateway.inFolder(provider: "http://127.0.0.1:1", sections: acme) { folder in
            let settings = try SettingsLoader.load(
                path: folder + "/gateway.yaml", environment: [:], options: .withoutSecrets
            ).settings
            let text = ProviderCommands.show("acme", settings, json: false).text
            for endpoint in ["token_endpoint", "userinfo_endpoint", "revocation_endpoint", "jwks_uri"] {
                #expect(text.contains(try Regex("\(endpoint) +by discovery")), "\(text)")
            }
            for (name, value) in [
                ("rate_limit", "50/s"), ("profile.max_age", "12h"), ("on_shared_subject", "refuse"),
                ("redirect_uris", "https://shop.example/cb com.acme.app:/cb"), ("allow_hosts", "keys.acme.internal"),
                ("http2", "true"), ("proxy", "http://proxy.example:3128"), ("no_proxy", ".corp"),
            ] {
                let line = text.split(separator: "\n").first { $0.hasPrefix("  \(name) ") } ?? ""
                #expect(line.hasSuffix(" " + value), "\(name): \(line)")
            }
            #expect(!text.contains("hunter2") && !text.contains("it is not told of a withdrawal"))
        }
    }
}
