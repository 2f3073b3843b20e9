// SPDX-License-Identifier: Apache-2.0
import NativeHTTPServer
import NativeJSON
import NativeSQLite
import NativeSystem
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("Readiness")
struct ReadinessTests {
    @Test("a gateway whose database is held says that it is not ready, within a bound, and is again when it is let go")
    func locked() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            #expect(try await readiness(of: gateway) == 200)
            let path = gateway.folder + "/consents.db"
            let other = try SQLiteConnection(path: path, access: .readWrite, busyTimeout: 100)
            try other.execute("BEGIN IMMEDIATE")
            let idle = try await waits(for: 503, of: gateway)
            #expect(idle, "an idle gateway tries, and is not ready")
            let refused = try await gateway.post(code: "c1", subject: "u")
            #expect(refused.status == 503)
            #expect(try await readiness(of: gateway) == 503)
            try other.execute("COMMIT")
            let isBack = try await waits(for: 200, of: gateway)
            #expect(isBack)
            #expect(try await gateway.post(code: "c1", subject: "u").status == 201)
            #expect(script.count(of: .exchange) == 1)
        }
    }

    /// Asks until that is the answer; each answer comes within a bound of its own.
    private func waits(for status: Int, of gateway: TestGateway) async throws -> Bool {
        let start = MonotonicInstant.now()
        while start.duration(to: .now()) < .seconds(30 * patience()) {
            let asked = MonotonicInstant.now()
            let answer = try await readiness(of: gateway)
            #expect(asked.duration(to: .now()) < .seconds(2 * patience()))
            if answer == status { return true }
            try await Task.sleep(for: .milliseconds(50))
        }
        return false
    }

    private func readiness(of gateway: TestGateway) async throws -> Int {
        let connection = try RawConnection(port: gateway.serving.admin.port)
        try connection.send("GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        let text = String(decoding: try await connection.readToEnd(), as: UTF8.self)
        let isReady = text.contains("\"status\":\"ready\"") && text.contains("\"store\":true")
        #expect(isReady == text.hasPrefix("HTTP/1.1 200 "), "\(text)")
        return Int(text.dropFirst(9).prefix(3)) ?? 0
    }
}
