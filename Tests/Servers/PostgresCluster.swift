// SPDX-License-Identifier: Apache-2.0
import NativeSystem
import TestSupport

/// A PostgreSQL server of a test's own, for what would disturb others: it can be stopped, killed and started again.
/// Stopped and removed with the object; where that does not come to pass, with `Tests/postgres with`.
package final class PostgresCluster: Sendable {
    package struct Failure: Error {
        package let command: String
        package let output: String
    }

    package let url: String
    package let folder: String

    /// - Parameter settings: as in `Tests/postgres start`.
    package init(_ settings: [String] = []) async throws {
        let parent = processEnvironment()["CONSENT_GATEWAY_TEST_CLUSTERS"] ?? "/tmp"
        let folder = "\(parent)/own_\(UInt64.random(in: 0 ... .max))"
        self.folder = folder
        url = try await onOwnThread { try run(["start", folder] + settings) }
    }

    deinit { _ = try? run(["stop", folder]) }

    package var port: String { url.split(separator: ":").last?.split(separator: "/").first.map(String.init) ?? "" }

    /// SIGKILL to all of its processes, as if the machine had gone.
    package func kill() async throws { try await tell("kill") }
    package func stop() async throws { try await tell("stopped") }
    package func start() async throws { try await tell("started") }
    package func restart() async throws { try await tell("restart") }

    /// Starts a pooler in front of it, which lends two connections to all, for a transaction each.
    /// - Returns: its URL.
    package func pooler() async throws -> String { try await onOwnThread { [folder] in try run(["pooler", folder]) } }

    private func tell(_ command: String) async throws {
        try await onOwnThread { [folder] in _ = try run([command, folder]) }
    }
}

/// What `Tests/postgres` prints, in one line.
private func run(_ arguments: [String]) throws -> String {
    let tests = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
    let child = try ChildProcess(["/bin/bash", "/\(tests)/postgres"] + arguments)
    var output: [UInt8] = []
    while case let bytes = child.read(), !bytes.isEmpty { output += bytes }
    let text = String(decoding: output, as: UTF8.self).split(separator: "\n").joined()
    guard child.wait() == 0 else { throw PostgresCluster.Failure(command: arguments[0], output: text) }
    return text
}
