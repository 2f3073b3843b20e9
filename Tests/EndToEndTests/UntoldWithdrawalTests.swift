// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import NativeSystem
import Settings
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("Providers that cannot be told of a withdrawal")
struct UntoldWithdrawalTests {
    private static let silent = "without a revocation_endpoint it is not told of a withdrawal: its tokens lapse there"

    private static let acme = """

          acme:
            authorization_endpoint: http://127.0.0.1:1/authorize
            token_endpoint: http://127.0.0.1:1/token
            userinfo_endpoint: http://127.0.0.1:1/userinfo
            revocation_endpoint: http://127.0.0.1:1/revoke
            client_id: acme
            client_secret: acme-secret
            scopes: [openid]
            id_token: ignored
        """

    @Test("check and provider show say so for each provider without a revocation endpoint, and for no other")
    func said() async throws {
        try await TestGateway.inFolder(provider: "http://127.0.0.1:1") { folder in
            let path = folder + "/gateway.yaml"
            var configuration = try readFile(at: path, limit: 1 << 16).bytes
            configuration += UntoldWithdrawalTests.acme.utf8
            try replaceFile(configuration, at: path, permissions: 0o600)
            let before = await CheckCommand.run(configPath: path, environment: [:], json: false).text
            let lines = before.split(separator: "\n").filter { $0.contains("codes go to") }
            #expect(lines.count == 2)
            for line in lines {
                let hasEndpoint = line.contains("providers.acme")
                #expect(line.contains(UntoldWithdrawalTests.silent) == !hasEndpoint, "\(line)")
            }
            let settings = try SettingsLoader.load(path: path, environment: [:], options: .withoutSecrets).settings
            let shown = ProviderCommands.show("paypal", settings, json: false).text
            #expect(shown.contains("none: it is not told of a withdrawal, its tokens lapse there"), "\(shown)")
        }
    }
}
