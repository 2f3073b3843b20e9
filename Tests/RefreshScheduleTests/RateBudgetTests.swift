// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RefreshSchedule

@Suite("A provider's rate")
struct RateBudgetTests {
    /// Background calls that go in `time`, and the most of them in any one second.
    private func background(_ budget: inout RateBudget, for time: Duration, live: Int = 0) -> (all: Int, most: Int) {
        var starts: [Duration] = []
        var (now, nextLive) = (Duration.zero, Duration.zero)
        while now < time {
            if live > 0, now >= nextLive {
                budget.spend(at: now)
                nextLive += .seconds(1) / live
            }
            if budget.admit(at: now) == nil {
                starts.append(now)
                budget.spend(at: now)
            }
            now += .milliseconds(1)
        }
        let most = starts.map { first in starts.count { $0 >= first && $0 < first + .seconds(1) } }.max() ?? 0
        return (starts.count, most)
    }

    @Test("background work takes four fifths of it, evenly")
    func alone() {
        var budget = RateBudget(count: 50, per: .seconds(1), at: .zero)
        let calls = background(&budget, for: .seconds(10))
        #expect((380...401).contains(calls.all))
        #expect(calls.most <= 40)
    }

    @Test("live calls never wait, and what they take background work has not", arguments: [20, 30, 40])
    func beside(_ live: Int) {
        var budget = RateBudget(count: 50, per: .seconds(1), at: .zero)
        let calls = background(&budget, for: .seconds(10), live: live)
        // With what the bucket held at the start.
        #expect(calls.all + 10 * live <= 550)
        #expect(calls.all >= 10 * (50 - live) - 60)
    }

    @Test("more live calls than the rate keep background work out, and it is back a second or two later")
    func flooded() {
        var budget = RateBudget(count: 10, per: .seconds(1), at: .zero)
        for step in 0..<1000 { budget.spend(at: .milliseconds(step)) }
        #expect(budget.admit(at: .seconds(1)) != nil)
        #expect(budget.admit(at: .seconds(4)) == nil)
    }

    @Test("a rate of less than one a second is one call now and then")
    func slow() {
        var budget = RateBudget(count: 6, per: .seconds(60), at: .zero)
        #expect(budget.admit(at: .zero) == nil)
        budget.spend(at: .zero)
        let next = budget.admit(at: .seconds(1))
        #expect(next != nil && next! > .seconds(9) && next! < .seconds(14))
    }
}
