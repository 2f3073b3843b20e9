// SPDX-License-Identifier: Apache-2.0
import Consents
import Testing

@Suite("The forecast of calls")
struct CallForecastTests {
    private static let key = ProviderKey(name: "acme", environment: nil)

    private static func forecast(
        _ policy: RefreshPolicy, minutes: Int, limit: CallBudget? = nil, dues: [Duration?], life: Int64 = 900
    ) throws -> ProviderForecast {
        var forecast = CallForecast(
            from: Plans.start, minutes: minutes, policies: [key: policy], limits: limit.map { [key: $0] } ?? [:])
        for (number, due) in dues.enumerated() {
            forecast.add(
                PlannedGrant(
                    id: Plans.id(UInt64(number)), provider: key, status: .active, generation: 1,
                    timing: TokenTiming(
                        issuedAt: Plans.start, accessTokenExpiresAt: Plans.start.advanced(by: .seconds(life)),
                        refreshTokenExpiresAt: nil, dueAt: due.map(Plans.start.advanced(by:))),
                    isInDoubt: false))
        }
        return try #require(forecast.providers.first)
    }

    @Test("kept fresh, a grant is called once in its token's life, until the end")
    func keptFresh() throws {
        let found = try Self.forecast(Plans.policy(.keepFresh), minutes: 1440, dues: [.seconds(720)])
        // 900 s less a margin of 180 s and a jitter of 0 to 90 s: every 630 to 720 s.
        #expect((120...138).contains(found.total))
        #expect(found.asked[12] == 1)
        #expect(found.asked[..<12].allSatisfy { $0 == 0 })
        #expect(found.peak?.calls == 1)
        #expect(found.grants == 1)
    }

    @Test("what is overdue is asked for at once, and spread by the rate limit")
    func spread() throws {
        let limit = try #require(CallBudget(calls: 1, period: .seconds(1)))
        let found = try Self.forecast(
            Plans.policy(.keepAlive), minutes: 60, limit: limit,
            dues: [Duration?](repeating: .seconds(-1), count: 120) + [.seconds(150), nil])
        #expect(found.limitPerMinute == 48)
        #expect(found.asked[0] == 120)
        #expect(Array(found.calls.prefix(5)) == [48, 48, 25, 0, 0])
        #expect(Array(found.waiting.prefix(4)) == [72, 24, 0, 0])
        #expect(found.total == 121)
        #expect(found.mostWaiting == 72)
        #expect(found.peak.map { [$0.minute, $0.calls] } == [0, 48])
    }

    @Test("a limit of less than a call a minute lets one through when it is there")
    func slow() throws {
        let limit = try #require(CallBudget(calls: 10, period: .seconds(1200)))
        let found = try Self.forecast(
            Plans.policy(.keepAlive), minutes: 60, limit: limit, dues: [Duration?](repeating: .zero, count: 100))
        #expect((23...24).contains(found.total))
        #expect(found.calls.allSatisfy { $0 <= 1 })
        #expect(found.waiting.last == 100 - found.total)
    }

    @Test("no policy and no life makes it go on for ever")
    func ends() throws {
        let policy = Plans.policy(.keepAlive, interval: .milliseconds(1))
        let found = try Self.forecast(policy, minutes: 60, dues: [.zero], life: 0)
        #expect(found.total == 120)
        let onDemand = try Self.forecast(Plans.policy(.onDemand), minutes: 60, dues: [.zero, nil])
        #expect(onDemand.total == 1)
    }

    @Test("a grant of a provider that is not configured is counted apart")
    func unplanned() {
        var forecast = CallForecast(from: Plans.start, minutes: 60, policies: [:], limits: [:])
        forecast.add(
            PlannedGrant(
                id: Plans.id(1), provider: Self.key, status: .active, generation: 1, timing: Plans.hour,
                isInDoubt: false))
        #expect(forecast.unplanned == 1)
        #expect(forecast.providers.isEmpty)
    }
}
