// SPDX-License-Identifier: Apache-2.0
import Consents
import Testing

@Suite("Refresh policy")
struct RefreshPolicyTests {
    static let start = Instant(milliseconds: 1_767_323_045_000)

    static func policy(_ kind: RefreshPolicy.Kind, idleLife: Duration? = nil) -> RefreshPolicy {
        RefreshPolicy(
            kind: kind, interval: .seconds(30 * 86_400), reuse: .forbidden, idleLife: idleLife,
            defaultLifetime: .seconds(3600))
    }

    static func answer(_ seconds: Int64?, refreshLife: Int64? = nil) -> TokenAnswer {
        TokenAnswer(
            tokens: TokenSet(
                accessToken: SecretText("a"), tokenType: "Bearer", refreshToken: SecretText("r"), idToken: nil),
            scopes: nil, expiresIn: seconds, refreshTokenExpiresIn: refreshLife)
    }

    @Test(
        "kept fresh, a token is due shortly before its end",
        arguments: [(300, 240), (900, 720), (28_800, 28_500)] as [(Int64, Int64)])
    func dueBeforeTheEnd(_ life: Int64, _ due: Int64) throws {
        let timing = RefreshPolicyTests.policy(.keepFresh).timing(
            of: RefreshPolicyTests.answer(life), issuedAt: RefreshPolicyTests.start, replacing: nil,
            isRefreshable: true, spread: 0)
        #expect(RefreshPolicyTests.start.duration(to: try #require(timing.dueAt)) == .seconds(due))
        #expect(timing.accessTokenExpiresAt == RefreshPolicyTests.start.advanced(by: .seconds(life)))
    }

    @Test("for every lifetime from a minute to ten years the due time lies behind half of it and before its end")
    func dueWithinTheSecondHalf() throws {
        var life: Int64 = 60
        while life < 315_360_000 {
            for spread in [0, 0.25, 0.5, 0.999] {
                let timing = RefreshPolicyTests.policy(.keepFresh).timing(
                    of: RefreshPolicyTests.answer(life), issuedAt: RefreshPolicyTests.start, replacing: nil,
                    isRefreshable: true,
                    spread: spread)
                let due = RefreshPolicyTests.start.duration(to: try #require(timing.dueAt))
                #expect(due < .seconds(life) && due >= .seconds(life) / 2)
            }
            life = life * 3 / 2 + 7
        }
    }

    @Test("a life under a minute is never refreshed ahead, an unknown one takes the default")
    func shortAndUnknown() throws {
        let policy = RefreshPolicyTests.policy(.keepFresh)
        let short = policy.timing(
            of: RefreshPolicyTests.answer(59), issuedAt: RefreshPolicyTests.start, replacing: nil, isRefreshable: true,
            spread: 0)
        #expect(short.dueAt == nil)
        let unknown = policy.timing(
            of: RefreshPolicyTests.answer(nil), issuedAt: RefreshPolicyTests.start, replacing: nil, isRefreshable: true,
            spread: 0)
        #expect(unknown.accessTokenExpiresAt == RefreshPolicyTests.start.advanced(by: .seconds(3600)))
    }

    @Test("under every policy half of the refresh token's life is the latest time")
    func refreshTokenEnd() throws {
        for kind in [RefreshPolicy.Kind.keepAlive, .keepFresh, .onDemand] {
            let timing = RefreshPolicyTests.policy(kind).timing(
                of: RefreshPolicyTests.answer(864_000, refreshLife: 86_400), issuedAt: RefreshPolicyTests.start,
                replacing: nil, isRefreshable: true, spread: 0)
            #expect(RefreshPolicyTests.start.duration(to: try #require(timing.dueAt)) == .seconds(43_200))
        }
        let idle = RefreshPolicyTests.policy(.onDemand, idleLife: .seconds(1000)).timing(
            of: RefreshPolicyTests.answer(3600), issuedAt: RefreshPolicyTests.start, replacing: nil,
            isRefreshable: true, spread: 1)
        #expect(RefreshPolicyTests.start.duration(to: try #require(idle.dueAt)) == .seconds(400))
    }

    @Test("without a refresh token nothing is ever due")
    func nothingToRefresh() {
        let timing = RefreshPolicyTests.policy(.keepAlive, idleLife: .seconds(1000)).timing(
            of: RefreshPolicyTests.answer(3600), issuedAt: RefreshPolicyTests.start, replacing: nil,
            isRefreshable: false, spread: 0)
        #expect(timing.dueAt == nil)
    }

    @Test("a batch of consents made in one moment is spread over the whole range, and each keeps its place")
    func spreading() {
        var buckets = [Int](repeating: 0, count: 10)
        for number in 0..<5000 {
            let id = ConsentID(UUIDv7(milliseconds: 1_767_323_045_000, random: (UInt64(number), UInt64(number))))
            let spread = RefreshPolicy.spread(of: id, generation: 1)
            #expect(spread == RefreshPolicy.spread(of: id, generation: 1))
            buckets[Int(spread * 10)] += 1
        }
        #expect(buckets.allSatisfy { (350...650).contains($0) })
    }
}
