// SPDX-License-Identifier: Apache-2.0
package import NativePostgres
import NativeSystem

/// A database of a test's own in the cluster that `Tests/postgres with` has started; gone with the object.
package final class PostgresDatabase: Sendable {
    /// Whether there is a cluster: `CONSENT_GATEWAY_TEST_POSTGRES` in the environment, which `Tests/run.sh` sets.
    package static var hasServer: Bool { serverURL != nil }

    private static var serverURL: String? { processEnvironment()["CONSENT_GATEWAY_TEST_POSTGRES"] }

    package let url: String
    private let server: String
    private let name: String

    package init() throws {
        guard let server = PostgresDatabase.serverURL else {
            throw PostgresError(.settings, detail: "CONSENT_GATEWAY_TEST_POSTGRES is not set")
        }
        self.server = server
        name = "test_\(UInt64.random(in: 0 ... .max))"
        url =
            server.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            .joined(separator: "/") + "/\(name)"
        try PostgresConnection(.forTests(server)).execute("CREATE DATABASE \(name) TEMPLATE template0")
    }

    deinit {
        // What cannot be dropped goes with the cluster.
        _ = try? PostgresConnection(.forTests(server)).execute("DROP DATABASE \(name) WITH (FORCE)")
    }

    package var settings: PostgresSettings { .forTests(url) }

    package func connection() throws(PostgresError) -> PostgresConnection { try PostgresConnection(settings) }
}

extension PostgresSettings {
    /// With time-outs that are long for a loaded machine.
    package static func forTests(_ url: String, password: String? = nil) -> PostgresSettings {
        PostgresSettings(
            url: url, password: password, applicationName: "test", connectTimeout: .seconds(20),
            answerTimeout: .seconds(40), statementTimeout: .seconds(30), lockTimeout: .seconds(20),
            idleInTransactionTimeout: .seconds(60), isPooled: false)
    }
}
