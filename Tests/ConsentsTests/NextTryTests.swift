// SPDX-License-Identifier: Apache-2.0
import Consents
import Testing

@Suite("When a grant is tried again")
struct NextTryTests {
    @Test("the backoff doubles from 30 s to its ceiling and stays in its upper half")
    func backoff() {
        let six = RefreshPolicy.longestBackoff
        #expect(RefreshPolicy.backoff(afterFailures: 0, ceiling: six, spread: 0) == .seconds(15))
        #expect(RefreshPolicy.backoff(afterFailures: 3, ceiling: six, spread: 1) == .seconds(240))
        #expect(RefreshPolicy.backoff(afterFailures: 40, ceiling: six, spread: 1) == .seconds(21_600))
        #expect(RefreshPolicy.backoff(afterFailures: .max, ceiling: .seconds(90), spread: 1) == .seconds(90))
        #expect(RefreshPolicy.backoff(afterFailures: .min, ceiling: six, spread: -.infinity) == .seconds(15))
    }

    @Test("48 hours of outage are 19 or 20 calls of each of 10,000 grants")
    func longOutage() {
        var counts: [Int: Int] = [:]
        for number in 0..<10_000 as Range<UInt64> {
            let policy = Plans.policy(.keepAlive)
            var now = Plans.start
            var calls = 0
            while now < Plans.start.advanced(by: .seconds(48 * 3600)) {
                let record = Plans.record(Plans.hour, id: Plans.id(number), failures: calls)
                calls += 1
                now = policy.nextTry(of: record, sentAt: nil, at: now)
            }
            counts[calls, default: 0] += 1
        }
        #expect(counts.keys.allSatisfy { (19...21).contains($0) }, "\(counts)")
        #expect(counts[19, default: 0] + counts[20, default: 0] > 9900, "\(counts)")
    }

    @Test("each wait is spread over its whole range, whichever try it is")
    func spreading() {
        for failures in 0..<12 {
            var buckets = [Int](repeating: 0, count: 10)
            for number in 0..<5000 as Range<UInt64> {
                let spread = RefreshPolicy.spread(of: Plans.id(number), generation: 3, afterFailures: failures)
                buckets[min(9, Int(spread * 10))] += 1
            }
            #expect(buckets.allSatisfy { (350...650).contains($0) })
        }
    }

    @Test("past three quarters of a refresh token's life the ceiling is a fiftieth of it")
    func nearTheEnd() throws {
        var timing = Plans.hour
        timing.refreshTokenExpiresAt = Plans.start.advanced(by: .seconds(100_000))
        let policy = Plans.policy(.keepAlive)
        let life = try #require(policy.refreshTokenLife(timing))
        let early = Plans.start.advanced(by: .milliseconds(74_999_999))
        let late = Plans.start.advanced(by: .seconds(75_000))
        #expect(life.backoffCeiling(at: early) == .seconds(21_600))
        #expect(life.backoffCeiling(at: late) == .seconds(2000))
        let record = Plans.record(timing, failures: 30)
        #expect(early.duration(to: policy.nextTry(of: record, sentAt: nil, at: early)) >= .seconds(10_800))
        #expect(late.duration(to: policy.nextTry(of: record, sentAt: nil, at: late)) <= .seconds(2000))
        #expect(RefreshTokenLife(issuedAt: Plans.start, end: late, isTold: true).length == .seconds(75_000))
        let short = RefreshTokenLife(
            issuedAt: Plans.start, end: Plans.start.advanced(by: .seconds(60)), isTold: true)
        #expect(short.backoffCeiling(at: short.end) == .seconds(30))
    }

    @Test("the person is warned at four fifths")
    func warning() {
        let end = Plans.start.advanced(by: .seconds(1000))
        let life = RefreshTokenLife(issuedAt: Plans.start, end: end, isTold: false)
        #expect(life.warnsAt == Plans.start.advanced(by: .seconds(800)))
    }

    @Test("what went out is not sent again within half a minute; what never left may be")
    func halfAMinute() {
        let policy = Plans.policy(.keepAlive)
        for number in 0..<1000 as Range<UInt64> {
            let record = Plans.record(Plans.hour, id: Plans.id(number))
            let sent = policy.nextTry(of: record, sentAt: Plans.start, at: Plans.start.advanced(by: .seconds(1)))
            #expect(Plans.start.duration(to: sent) >= .seconds(30))
            #expect(Plans.start.duration(to: sent) <= .seconds(31))
            let kept = policy.nextTry(of: record, sentAt: nil, at: Plans.start)
            #expect((Duration.seconds(15)...(.seconds(30))).contains(Plans.start.duration(to: kept)))
        }
    }

    @Test("in doubt, a static token goes by backoff, and a forbidden one waits until the access token has lapsed")
    func doubt() {
        let now = Plans.start.advanced(by: .seconds(60))
        let record = Plans.record(Plans.hour)
        func next(_ reuse: RefreshPolicy.Reuse, _ doubt: RefreshAttempt? = nil) -> Duration {
            let policy = Plans.policy(.keepFresh, reuse: reuse)
            return now.duration(to: policy.nextTryOfUnknown(of: record, sentAt: now, doubt: doubt, at: now))
        }
        #expect(next(.fixed) == .seconds(30))
        #expect(next(.forbidden) == .seconds(3540))
        #expect(next(.grace(.seconds(120))) == .seconds(30))
        // The window is too short for half a minute: the middle of what is left of it.
        #expect(next(.grace(.seconds(30))) == .milliseconds(12_500))
        // Once more only.
        #expect(next(.grace(.seconds(120)), Plans.doubt(sentAt: now)) == .seconds(3540))
        #expect(next(.grace(.seconds(6))) == .seconds(3540))
        let lapsed = Plans.start.advanced(by: .seconds(4000))
        let late = Plans.policy(.keepFresh).nextTryOfUnknown(of: record, sentAt: lapsed, doubt: nil, at: lapsed)
        #expect(lapsed.duration(to: late) == .seconds(30))
    }

    @Test("a token in doubt may go out as the provider takes old ones, else when the access token has lapsed")
    func heldBack() {
        let sent = Plans.start.advanced(by: .seconds(60))
        func until(_ reuse: RefreshPolicy.Reuse, after seconds: Int64) -> Instant? {
            Plans.policy(.keepFresh, reuse: reuse).isHeldBack(
                Plans.hour, by: Plans.doubt(sentAt: sent), at: sent.advanced(by: .seconds(seconds)))
        }
        let lapse = Plans.hour.accessTokenExpiresAt
        #expect(until(.fixed, after: 0) == nil)
        #expect(until(.forbidden, after: 0) == lapse)
        #expect(until(.forbidden, after: 3540) == nil)
        #expect(until(.grace(.seconds(30)), after: 24) == nil)
        #expect(until(.grace(.seconds(30)), after: 25) == lapse)
        #expect(until(.grace(.seconds(30)), after: -10) == lapse)
        #expect(Plans.policy(.keepFresh).isHeldBack(Plans.hour, by: nil, at: sent) == nil)
        // It went out a second time: no third time within the grace, whoever asks.
        var twice = Plans.doubt(sentAt: sent)
        twice.isRepeated = true
        let grace = Plans.policy(.keepFresh, reuse: .grace(.seconds(30)))
        #expect(grace.isHeldBack(Plans.hour, by: twice, at: sent.advanced(by: .seconds(5))) == lapse)
    }
}
