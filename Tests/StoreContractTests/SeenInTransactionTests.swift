// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeSystem
import Testing

@testable import ConsentStores

@Suite("What a transaction with a server remembers")
struct SeenInTransactionTests {
    @Test("a quiet provider and the store's life are believed for a moment, and read again after a wait")
    func moment() throws {
        let seen = SeenInTransaction()
        let end = MonotonicInstant.now().advanced(by: .seconds(60))
        #expect(!seen.isQuiet(Make.provider))
        seen.sawQuiet(Make.provider)
        seen.saw(ClaimableLife(incarnation: nil, number: 1, isStopped: false))
        while seen.isQuiet(Make.provider), MonotonicInstant.now() < end {}
        #expect(!seen.isQuiet(Make.provider))
        #expect(seen.life == nil)
        // A moment that begins anew brings nothing of the last one back.
        seen.saw(ClaimableLife(incarnation: nil, number: 2, isStopped: false))
        #expect(!seen.isQuiet(Make.provider))
    }
}
