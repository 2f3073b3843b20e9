// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import HTTPEdge

@Suite("Rates")
struct RateLimiterTests {
    @Test("a burst of the whole count is let through, then one an interval")
    func burst() {
        var limiter = RateLimiter<String>(count: 10, per: .seconds(600), capacity: 100)
        for _ in 0..<10 { #expect(limiter.take("a", at: .seconds(5)) == nil) }
        #expect(limiter.take("a", at: .seconds(5)) == .seconds(60))
        #expect(limiter.take("b", at: .seconds(5)) == nil)
        #expect(limiter.take("a", at: .seconds(65)) == nil)
        #expect(limiter.take("a", at: .seconds(65)) == .seconds(60))
        for _ in 0..<10 { #expect(limiter.take("a", at: .seconds(2000)) == nil) }
        #expect(limiter.take("a", at: .seconds(2000)) != nil)
    }

    @Test("what is refused costs nothing: whoever waits as told gets through")
    func waiting() throws {
        var limiter = RateLimiter<Int>(count: 3, per: .seconds(1), capacity: 10)
        var now = Duration.zero
        var passed = 0
        for _ in 0..<1000 {
            if let delay = limiter.take(1, at: now) { now += delay } else { passed += 1 }
        }
        #expect(passed >= 500)
        #expect(now >= .seconds(passed - 3) / 3 && now <= .seconds(passed) / 3)
    }

    @Test("no more keys are remembered than there is room for, and the idle ones go first")
    func bounded() {
        var limiter = RateLimiter<Int>(count: 1, per: .seconds(1), capacity: 100)
        for key in 0..<1000 { #expect(limiter.take(key, at: .zero) == nil) }
        #expect(limiter.size == 100)
        #expect(limiter.take(5000, at: .seconds(10)) == nil)
        #expect(limiter.size == 1)
        #expect(limiter.take(5000, at: .seconds(10)) != nil)
    }
}
