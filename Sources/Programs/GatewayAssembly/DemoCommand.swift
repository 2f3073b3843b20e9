// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import ConsentStores
import Consents
import HTTPEdge
import NativeEventLoop
import NativeSystem
import SimulatedProvider
import TokenVaults

/// `demo`: `serve` with the simulated provider, on an empty store in a temporary folder that goes with it.
enum DemoCommand {
    static func run(environment: [String: String], json: Bool) async -> CommandOutput {
        do {
            let folder = try makeTemporaryFolder(
                prefix: "consent-gateway-demo-", in: environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp")
            defer { removeFolder(at: folder) }
            let loops = try EventLoopGroup.start(name: "provider", count: 1)
            defer { loops.stop() }
            var options = SimulatorOptions()
            options.environment = "sandbox"
            let provider = try await SimulateCommand.start(on: loops, host: "127.0.0.1", port: 0, options)
            let output = await run(in: folder, provider, environment, json: json)
            await provider.stop()
            return output
        } catch let failure as StartFailure {
            return failure.output
        } catch {
            return .failure("the demo cannot be started: \(error)", status: .partlyDone)
        }
    }

    private static func run(
        in folder: String, _ provider: SimulatedProvider, _ environment: [String: String], json: Bool
    ) async -> CommandOutput {
        let configPath = folder + "/demo.yaml"
        do {
            let now = Instant(milliseconds: wallClockMilliseconds())
            _ = try KeyRing.create(at: folder + "/vault-keys.json", now: now)
            let secret = Array(SimulatorOptions.defaultClientSecret.utf8)
            try createFile(secret, at: folder + "/client-secret", permissions: 0o600)
            try createFile(Array(configuration(provider.url).utf8), at: configPath, permissions: 0o600)
            let bare = environment.filter { !$0.key.hasPrefix("CONSENT_GATEWAY") }
            return try await ServeCommand.run(configPath: configPath, environment: bare) { serving in
                try await welcome(serving, provider, configPath, json: json)
            }
        } catch let failure as StartFailure {
            return failure.output
        } catch {
            return .failure("the demo cannot be started: \(error)", status: .partlyDone)
        }
    }

    private static func welcome(
        _ serving: Serving, _ provider: SimulatedProvider, _ configPath: String, json: Bool
    ) async throws -> CommandOutput {
        let made = APIKey.make(
            name: "demo", scopes: [.consentsRead, .consentsWrite, .profilesRead, .tokensRead], lifetime: nil,
            now: serving.place.time.now)
        try await serving.gateway.store.createAPIKey(made.key)
        try await serving.callers.reload()
        let code = try provider.issueCode(person: nil, scopes: nil, fault: nil)
        return ReadyOutput.demo(
            DemoAddresses(
                api: serving.apiAddress, admin: serving.adminAddress, provider: provider.url, apiKey: made.text,
                configPath: configPath, sampleCode: code, environment: "sandbox"),
            json: json)
    }

    private static func configuration(_ providerURL: String) -> String {
        """
        # Made by `consent-gateway demo`; it is gone when the demo ends.
        server:
          listen: 127.0.0.1:0
          admin_listen: 127.0.0.1:0
        store:
          url: sqlite:consents.db
        vault:
          keys: { file: vault-keys.json }
        providers:
          paypal:
            preset: paypal
            environment: sandbox
            api_url: \(providerURL)
            client_id: \(SimulatorOptions.defaultClientID)
            client_secret: { file: client-secret }
            scopes: [openid, profile, email, address, phone]

        """
    }
}
