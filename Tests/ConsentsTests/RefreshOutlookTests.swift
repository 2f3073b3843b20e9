// SPDX-License-Identifier: Apache-2.0
import Consents
import Testing

@Suite("The outlook over all grants")
struct RefreshOutlookTests {
    private static let key = ProviderKey(name: "acme", environment: nil)
    /// Five minutes into an hour of the clock.
    private static let now = Instant(milliseconds: 1_767_322_800_000 + 300_000)

    private static func grant(
        _ number: UInt64, dueIn due: Duration?, endsIn end: Duration? = nil, status: ConsentStatus = .active,
        isInDoubt: Bool = false, provider: ProviderKey = key
    ) -> PlannedGrant {
        let issuedAt = now.advanced(by: .seconds(-3600))
        return PlannedGrant(
            id: Plans.id(number), provider: provider, status: status, generation: 1,
            timing: TokenTiming(
                issuedAt: issuedAt, accessTokenExpiresAt: now.advanced(by: .seconds(3600)),
                refreshTokenExpiresAt: end.map(now.advanced(by:)), dueAt: due.map(now.advanced(by:))),
            isInDoubt: isInDoubt)
    }

    @Test("each grant is counted once by its time, and once by its reason")
    func counts() throws {
        var outlook = RefreshOutlook(at: Self.now, policies: [Self.key: Plans.policy(.keepAlive)])
        outlook.add(Self.grant(1, dueIn: .seconds(-5), status: .failing))
        outlook.add(Self.grant(2, dueIn: .zero, status: .failing, isInDoubt: true))
        outlook.add(Self.grant(3, dueIn: .seconds(3299)))
        outlook.add(Self.grant(4, dueIn: .seconds(3300)))
        outlook.add(Self.grant(5, dueIn: .seconds(10 * 86_400)))
        outlook.add(Self.grant(6, dueIn: nil))
        // Further ahead than anything can have made it.
        outlook.add(Self.grant(7, dueIn: .seconds(400 * 86_400)))
        let provider = try #require(outlook.providers.first)
        #expect(provider.grants == 7)
        #expect(provider.dueNow == 3)
        #expect(provider.hours.prefix(3) == [1, 1, 0])
        #expect(provider.later == 1)
        #expect(provider.onDemand == 1)
        #expect(provider.reasons[.nextTry] == 1)
        #expect(provider.reasons[.inDoubt] == 1)
        #expect(provider.reasons.values.reduce(0, +) == 7)
        #expect(provider.unsafeInterval == nil)
    }

    @Test("an outage loses those whose refresh token ends in it, and the soonest are named")
    func endings() throws {
        var outlook = RefreshOutlook(at: Self.now, policies: [Self.key: Plans.policy(.keepAlive)])
        for number in (1...100 as ClosedRange<UInt64>).reversed() {
            outlook.add(Self.grant(number, dueIn: .zero, endsIn: .seconds(Int64(number) * 3600)))
        }
        let provider = try #require(outlook.providers.first)
        #expect(provider.endings == [1, 6, 24, 72, 100, 100])
        #expect(provider.withKnownEnd == 100)
        #expect(outlook.endingFirst.map(\.id) == (1...20).map { Plans.id($0) })
        #expect(provider.shortestLife == .seconds(7200))
        #expect(provider.unsafeInterval == .seconds(30 * 86_400))
        #expect(provider.reasons == [.refreshTokenEnd: 100])
    }

    @Test("a provider that is not configured has its grants counted, and nothing else")
    func absent() {
        let gone = ProviderKey(name: "gone", environment: "live")
        var outlook = RefreshOutlook(at: Self.now, policies: [Self.key: Plans.policy(.keepFresh)])
        outlook.add(Self.grant(1, dueIn: .zero, provider: gone))
        #expect(outlook.providers.map(\.key.name) == ["acme", "gone"])
        #expect(outlook.providers.map(\.grants) == [0, 1])
        #expect(outlook.providers[1].policy == nil)
        #expect(outlook.providers[1].dueNow == 0)
    }
}
