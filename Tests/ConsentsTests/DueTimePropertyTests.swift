// SPDX-License-Identifier: Apache-2.0
import Consents
import Testing

@Suite("What holds for every due time")
struct DueTimePropertyTests {
    private static let rounds = 20_000

    @Test("kept fresh or alive, it lies in a life's second half, a margin before the end", arguments: [1, 2])
    func ownBounds(_ seed: UInt64) throws {
        var random = SeededGenerator(seed)
        for _ in 0..<DueTimePropertyTests.rounds {
            let life = Plans.life(&random)
            let spread = Double.random(in: 0...1, using: &random)
            for kind in [RefreshPolicy.Kind.keepFresh, .keepAlive] {
                let timing = Plans.policy(kind, interval: .seconds(life)).timing(
                    of: Plans.answer(kind == .keepFresh ? life : 3600), issuedAt: Plans.start, replacing: nil,
                    isRefreshable: true, spread: spread)
                let due = Plans.start.duration(to: try #require(timing.dueAt))
                let whole = Duration.seconds(life)
                #expect(due <= whole - min(.seconds(30), whole * 0.4))
                #expect(due + .milliseconds(1) >= whole / 2)
                #expect(due + .milliseconds(1) >= whole - .seconds(300) - whole * 0.1 - whole * 0.2)
            }
        }
    }

    @Test("a refresh token's end bounds it under every policy, after two fifths of it", arguments: [3, 4])
    func refreshTokenBounds(_ seed: UInt64) throws {
        var random = SeededGenerator(seed)
        for _ in 0..<DueTimePropertyTests.rounds {
            let (life, refreshLife) = (Plans.life(&random), Plans.life(&random))
            let isTold = Bool.random(using: &random)
            let spread = Double.random(in: 0...1, using: &random)
            let half = Duration.seconds(refreshLife) / 2
            for kind in Plans.kinds {
                let policy = Plans.policy(
                    kind, interval: .seconds(life), idleLife: isTold ? .seconds(60) : .seconds(refreshLife))
                let timing = policy.timing(
                    of: Plans.answer(life, refreshLife: isTold ? refreshLife : nil), issuedAt: Plans.start,
                    replacing: nil, isRefreshable: true, spread: spread)
                let due = Plans.start.duration(to: try #require(timing.dueAt))
                #expect(due <= half)
                #expect(due + .milliseconds(1) >= min(half - Duration.seconds(refreshLife) / 10, .seconds(life) / 2))
                #expect(policy.believedDue(timing, at: Plans.start) == timing.dueAt)
            }
        }
    }

    @Test("a longer life is never due earlier, and a larger jitter never later")
    func monotone() throws {
        var random = SeededGenerator(5)
        for _ in 0..<DueTimePropertyTests.rounds {
            let (one, other) = (Plans.life(&random), Plans.life(&random))
            let (low, high) = (Double.random(in: 0...0.5, using: &random), Double.random(in: 0.5...1, using: &random))
            let policy = Plans.policy(.keepFresh)
            func due(_ life: Int64, _ spread: Double, _ refreshLife: Int64? = nil) -> Instant? {
                policy.dueTime(
                    issuedAt: Plans.start, accessLife: .seconds(life),
                    refreshLife: refreshLife.map { .seconds($0) }, spread: spread)
            }
            #expect(try #require(due(min(one, other), low)) <= #require(due(max(one, other), low)))
            #expect(try #require(due(one, high)) <= #require(due(one, low)))
            #expect(try #require(due(one, low, other)) <= #require(due(one, low)))
        }
    }

    @Test("no life, whatever an answer tells, makes a grant due before half a minute after its refresh")
    func notTwice() throws {
        var random = SeededGenerator(6)
        let told: [Int64?] = [nil, .min, -1, 0, 1, 29, 59, 60, 61, 75, 600, Plans.tenYears, Plans.tenYears + 1, .max]
        for life in told {
            for refreshLife in told {
                for kind in Plans.kinds {
                    let policy = Plans.policy(
                        kind, interval: .milliseconds(Int64.random(in: 1...90_000, using: &random)),
                        idleLife: Bool.random(using: &random) ? .seconds(1) : nil)
                    let timing = policy.timing(
                        of: Plans.answer(life, refreshLife: refreshLife), issuedAt: Plans.start,
                        replacing: Plans.hour, isRefreshable: true, spread: 1)
                    #expect(timing.accessTokenExpiresAt > timing.issuedAt)
                    #expect(timing.accessLife <= .seconds(Plans.tenYears))
                    if let due = timing.dueAt { #expect(Plans.start.duration(to: due) >= .seconds(30)) }
                    if let life, (1..<60).contains(life), kind == .keepFresh, refreshLife.map({ $0 < 60 }) ?? true {
                        #expect(timing.dueAt == nil)
                    }
                }
            }
        }
    }

    @Test("an unusable life is unknown: the default one, whichever way it is unusable")
    func unknown() {
        let policy = Plans.policy(.keepFresh)
        for life in [nil, 0, -1, .min, .max, Plans.tenYears + 1] as [Int64?] {
            let timing = policy.timing(
                of: Plans.answer(life), issuedAt: Plans.start, replacing: nil, isRefreshable: true, spread: 0)
            #expect(timing.accessLife == .seconds(3600))
        }
        for life in [0, 59, .max] as [Int64] {
            let timing = policy.timing(
                of: Plans.answer(3600, refreshLife: life), issuedAt: Plans.start, replacing: nil, isRefreshable: true,
                spread: 0)
            #expect(timing.refreshTokenExpiresAt == nil)
        }
    }

    @Test("a refresh token that was kept keeps its told end, and one that outlived it has none")
    func keptEnd() {
        let policy = Plans.policy(.onDemand)
        var old = Plans.hour
        old.refreshTokenExpiresAt = Plans.start.advanced(by: .seconds(10_000))
        let later = Plans.start.advanced(by: .seconds(5000))
        let kept = policy.timing(
            of: Plans.answer(3600, keepsRefreshToken: true), issuedAt: later, replacing: old, isRefreshable: true,
            spread: 0)
        #expect(kept.refreshTokenExpiresAt == old.refreshTokenExpiresAt)
        #expect(kept.dueAt == later.advanced(by: .seconds(2500)))
        let new = policy.timing(
            of: Plans.answer(3600), issuedAt: later, replacing: old, isRefreshable: true, spread: 0)
        #expect(new.refreshTokenExpiresAt == nil)
        let outlived = policy.timing(
            of: Plans.answer(3600, keepsRefreshToken: true), issuedAt: later.advanced(by: .seconds(5000)),
            replacing: old, isRefreshable: true, spread: 0)
        #expect(outlived.refreshTokenExpiresAt == nil)
    }

    @Test("a jitter is the same at each reckoning, and another one for the next generation")
    func stable() {
        var different = 0
        for number in 0..<1000 as Range<UInt64> {
            let spread = RefreshPolicy.spread(of: Plans.id(number), generation: 7)
            #expect(spread == RefreshPolicy.spread(of: Plans.id(number), generation: 7))
            #expect((0..<1).contains(spread))
            if spread != RefreshPolicy.spread(of: Plans.id(number), generation: 8) { different += 1 }
        }
        #expect(different == 1000)
    }
}
