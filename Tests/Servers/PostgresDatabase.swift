// SPDX-License-Identifier: Apache-2.0
package import NativePostgres
import NativeSystem

/// A database of a test's own in the cluster that `Tests/postgres with` has started; gone with the object.
package final class PostgresDatabase: Sendable {
    /// Whether there is a cluster: `CONSENT_GATEWAY_TEST_POSTGRES` in the environment, which `Tests/run.sh` sets.
    package static var hasServer: Bool { serverURL != nil }

    static var serverURL: String? { processEnvironment()["CONSENT_GATEWAY_TEST_POSTGRES"] }

    package let url: String
    private let server: String
    package let name: String

    /// An empty one.
    package convenience init() throws { try self.init(template: "template0") }

    /// - Parameter template: a database that nobody is connected to, of which it is a copy.
    package init(template: String) throws {
        guard let server = PostgresDatabase.serverURL else {
            throw PostgresError(.settings, detail: "CONSENT_GATEWAY_TEST_POSTGRES is not set")
        }
        self.server = server
        name = "test_\(UInt64.random(in: 0 ... .max))"
        url =
            server.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            .joined(separator: "/") + "/\(name)"
        try PostgresConnection(.forTests(server)).execute("CREATE DATABASE \(name) TEMPLATE \(template)")
    }

    deinit {
        // What cannot be dropped goes with the cluster.
        _ = try? PostgresConnection(.forTests(server)).execute("DROP DATABASE \(name) WITH (FORCE)")
    }

    package var settings: PostgresSettings { .forTests(url) }

    package func connection() throws(PostgresError) -> PostgresConnection { try PostgresConnection(settings) }
}
