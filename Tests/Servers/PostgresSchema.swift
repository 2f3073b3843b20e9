// SPDX-License-Identifier: Apache-2.0
package import NativePostgres
import TestSupport

/// A schema for one test, in the server that `Tests/postgres with` has started, with a user of its own who sees nothing
/// else. Gone with the object.
///
/// Made in a tenth of the time of a ``PostgresDatabase``; advisory locks are those of all such tests together.
package final class PostgresSchema: Sendable {
    package static var hasServer: Bool { PostgresDatabase.hasServer }

    package let url: String
    /// The user's and the schema's.
    package let name: String
    private let server: String

    package convenience init() async throws {
        guard let server = PostgresDatabase.serverURL else {
            throw PostgresError(.settings, detail: "CONSENT_GATEWAY_TEST_POSTGRES is not set")
        }
        try await self.init(in: server)
    }

    /// - Parameter server: `postgres://SUPERUSER@…`, without a password.
    package init(in server: String) async throws {
        let name = "test_\(UInt64.random(in: 0 ... .max))"
        let rest = server.split(separator: "@", maxSplits: 1).last ?? ""
        (self.server, self.name, url) = (server, name, "postgres://\(name)@\(rest)")
        try await onOwnThread {
            try PostgresConnection(.forTests(server)).execute(
                """
                CREATE ROLE \(name) LOGIN; CREATE SCHEMA \(name) AUTHORIZATION \(name);
                ALTER ROLE \(name) SET search_path = \(name)
                """)
        }
    }

    deinit {
        // What cannot be dropped goes with the server.
        let end = """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '\(name)';
            DROP SCHEMA \(name) CASCADE; DROP ROLE \(name)
            """
        _ = try? PostgresConnection(.forTests(server)).execute(end)
    }

    package var settings: PostgresSettings { .forTests(url) }

    package func connection() throws(PostgresError) -> PostgresConnection { try PostgresConnection(settings) }

    /// Runs a script as the server's superuser.
    package func asSuperuser(_ script: String) throws(PostgresError) {
        try PostgresConnection(.forTests(server)).execute(script)
    }
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
