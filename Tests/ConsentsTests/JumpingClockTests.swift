// SPDX-License-Identifier: Apache-2.0
import Consents
import Testing

@Suite("Clocks that jump")
struct JumpingClockTests {
    /// Up to 200 years ahead or back.
    private static func jump(_ random: inout SeededGenerator) -> Duration {
        let largest = Int64(1) << Int64.random(in: 1...32, using: &random)
        return .seconds(Int64.random(in: -largest...largest, using: &random))
    }

    @Test("no grant waits longer than a delay can have made it, wherever the clock went", arguments: [11, 12])
    func believed(_ seed: UInt64) {
        var random = SeededGenerator(seed)
        for round in 0..<20_000 as Range<UInt64> {
            let kind = Plans.kinds.randomElement(using: &random) ?? .keepAlive
            let reuse = Plans.reuses.randomElement(using: &random) ?? .forbidden
            let policy = Plans.policy(
                kind, interval: .seconds(Plans.life(&random)), reuse: reuse, idleLife: .seconds(Plans.life(&random)))
            let timing = policy.timing(
                of: Plans.answer(Plans.life(&random), refreshLife: Plans.life(&random)), issuedAt: Plans.start,
                replacing: nil, isRefreshable: true, spread: RefreshPolicy.spread(of: Plans.id(round), generation: 1))
            let now = Plans.start.advanced(by: JumpingClockTests.jump(&random))
            guard let due = policy.believedDue(timing, at: now), let stored = timing.dueAt else { continue }
            #expect(due <= now.advanced(by: policy.longestDelay(of: timing)))
            #expect(due == stored || due == now)
            // A clock that only went on is believed.
            if now >= Plans.start { #expect(due == stored) }
            #expect(timing.believedExpiry(at: now) <= now.advanced(by: timing.accessLife))
            let record = Plans.record(timing, id: Plans.id(round), failures: Int(round % 40))
            for sentAt in [Plans.start, now] {
                let next = policy.nextTryOfUnknown(of: record, sentAt: sentAt, doubt: nil, at: now)
                #expect(next >= now)
                #expect(now.duration(to: next) <= policy.longestDelay(of: timing) + .seconds(30))
            }
        }
    }

    @Test("the ends of time trap nobody")
    func extremes() {
        let ends = [Instant(milliseconds: .min), Instant(milliseconds: .max), Plans.start]
        for now in ends {
            for issuedAt in ends {
                let policy = Plans.policy(.keepAlive, reuse: .grace(.seconds(30)), idleLife: .seconds(1000))
                let timing = policy.timing(
                    of: Plans.answer(3600, refreshLife: 86_400), issuedAt: issuedAt, replacing: Plans.hour,
                    isRefreshable: true, spread: 0.5)
                _ = policy.believedDue(timing, at: now)
                _ = policy.isHeldBack(timing, by: Plans.doubt(sentAt: issuedAt), at: now)
                _ = policy.nextTryOfUnknown(of: Plans.record(timing), sentAt: issuedAt, doubt: nil, at: now)
            }
        }
    }
}
