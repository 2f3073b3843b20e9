// SPDX-License-Identifier: Apache-2.0
import ConsentUseCases
import Consents
import Testing

@Suite("A lease's fence")
struct LeaseFenceTests {
    @Test("is open while the lease still covers the longest answer and 30 s for keeping it")
    func covers() {
        let timeouts = ProviderTimeouts(connect: .seconds(3), total: .seconds(10), answer: .seconds(60))
        let fence = LeaseFence(of: .seconds(120), from: .seconds(1000), for: timeouts)
        #expect(fence.isOpen(at: .seconds(1000)))
        #expect(fence.isOpen(at: .seconds(1030)))
        #expect(!fence.isOpen(at: .seconds(1030) + .nanoseconds(1)))
        #expect(!fence.isOpen(at: .seconds(90_000)))
        let short = LeaseFence(of: .seconds(80), from: .zero, for: timeouts)
        #expect(!short.isOpen(at: .zero))
    }
}
