// SPDX-License-Identifier: Apache-2.0
import NativeSystem
import Settings

/// A small configuration that is right, and what becomes of it when lines are added or replaced.
enum SampleSettings {
    static let head = """
        store: { url: "sqlite:var/consents.db" }
        vault: { keys: { file: var/keys.json } }

        """
    static let provider = """
        providers:
          acme:
            token_endpoint: https://login.acme.example/token
            client_id: shop
            client_secret: { env: ACME_SECRET }
            id_token: ignored

        """
    static let secrets = ["ACME_SECRET": "s3cr3t-canary"]

    /// Reads `text` as `conf/gateway.yaml` with the secrets of the sample and `variables`.
    static func read(
        _ text: String, variables: [String: String] = [:],
        options: SettingsOptions = .whole
    ) throws(SettingsErrors) -> LoadedSettings {
        let environment = secrets.merging(variables) { $1 }
        return try SettingsLoader.parse(
            Array(text.utf8), file: "conf/gateway.yaml", environment: environment, options: options)
    }

    /// The errors of `text`, a line each; empty where there are none.
    static func errors(
        _ text: String, variables: [String: String] = [:], options: SettingsOptions = .whole
    ) -> [String] {
        do {
            _ = try read(text, variables: variables, options: options)
            return []
        } catch {
            return error.entries.map(\.description)
        }
    }

    /// The sample with `lines` at the end of its provider, each indented as the provider's keys are.
    static func withProviderLines(_ lines: String...) -> String {
        head + provider + lines.map { "    \($0)\n" }.joined()
    }

    /// A file of the repository.
    static func file(_ path: String) throws -> [UInt8] {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return try readFile(at: "/\(root)/\(path)", limit: 1 << 20).bytes
    }
}
