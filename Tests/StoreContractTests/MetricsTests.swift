// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import Observability
import Testing

@Suite("What any store counts", .places)
struct MetricsTests {
    @Test("writes by what became of them, and their batches", arguments: StoreKind.allCases)
    func writes(_ kind: StoreKind) async throws {
        let place = try StorePlace(kind)
        let store = try place.open()
        for _ in 0..<3 { _ = try await store.keepConsent() }
        store.close()
        await #expect(throws: StoreFailure.self) { _ = try await store.keepConsent() }
        let page = await MetricsPage(place.metrics, readings: []).text()
        let written = try #require(page.firstMatch(of: /store_writes_total\{outcome="written"\} ([0-9]+)\n/))
        #expect(try #require(Int(written.1)) >= 3)
        #expect(page.contains(#"consent_gateway_store_writes_total{outcome="refused"} 1"# + "\n"))
        #expect(page.contains("consent_gateway_store_batch_writes_sum \(written.1)\n"))
    }
}
