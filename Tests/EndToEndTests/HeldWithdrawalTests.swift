// SPDX-License-Identifier: Apache-2.0
import ConsentUseCases
import NativeJSON
import NativeSQLite
import NativeSystem
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("A withdrawal that the store does not take")
struct HeldWithdrawalTests {
    @Test("it is done when the store takes writes again, though nobody asks once more")
    func later() async throws {
        let script = try PayPalScript { _, _, _ in nil }
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway async throws in
            let id = try #require(try await gateway.post(code: "c", subject: "u").id)
            let other = try SQLiteConnection(
                path: gateway.folder + "/consents.db", access: .readWrite, busyTimeout: 10_000)
            try other.execute("BEGIN IMMEDIATE")
            let held = try await gateway.raw("DELETE", "/v1/consents/\(id)")
            #expect(held.status == 503, "\(held)")
            try other.execute("COMMIT")
            let end = MonotonicInstant.now().advanced(by: .seconds(30 * patience()))
            while try await gateway.record(id).json["status"]?.string != "revoked", MonotonicInstant.now() < end {
                try await Task.sleep(for: .milliseconds(50))
            }
            let record = try await gateway.record(id)
            #expect(record.json["status"]?.string == "revoked" && record.json["status_reason"]?.string == "user")
            #expect(try await gateway.eventTypes(id).filter { $0 == "consent.revoked" }.count == 1)
            #expect(try await gateway.raw("DELETE", "/v1/consents/\(id)").status == 200)
            #expect(try await gateway.serving.gateway.restore().missing.isEmpty)
        }
    }
}
