// SPDX-License-Identifier: Apache-2.0
import Consents

/// splitmix64: the same numbers at each run, so that a property that fails once fails again.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

/// What the plan is asked about.
enum Plans {
    static let start = Instant(milliseconds: 1_767_323_045_000)
    static let tenYears: Int64 = 10 * 366 * 86_400
    static let kinds: [RefreshPolicy.Kind] = [.keepAlive, .keepFresh, .onDemand]
    static let reuses: [RefreshPolicy.Reuse] = [.fixed, .grace(.seconds(30)), .forbidden]

    static func id(_ number: UInt64) -> ConsentID {
        ConsentID(UUIDv7(milliseconds: 1_767_323_045_000, random: (number, number &* 77)))
    }

    /// From a second to ten years, each magnitude as likely as the others.
    static func life(_ random: inout SeededGenerator) -> Int64 {
        let largest = Int64(1) << Int64.random(in: 1...28, using: &random)
        return min(tenYears, Int64.random(in: 1...largest, using: &random) + 60)
    }

    static func policy(
        _ kind: RefreshPolicy.Kind, interval: Duration = .seconds(30 * 86_400),
        reuse: RefreshPolicy.Reuse = .forbidden, idleLife: Duration? = nil
    ) -> RefreshPolicy {
        RefreshPolicy(
            kind: kind, interval: interval, reuse: reuse, idleLife: idleLife, defaultLifetime: .seconds(3600))
    }

    static func answer(_ life: Int64?, refreshLife: Int64? = nil, keepsRefreshToken: Bool = false) -> TokenAnswer {
        TokenAnswer(
            tokens: TokenSet(
                accessToken: SecretText("a"), tokenType: "Bearer",
                refreshToken: keepsRefreshToken ? nil : SecretText("r"), idToken: nil),
            scopes: nil, expiresIn: life, refreshTokenExpiresIn: refreshLife)
    }

    static func record(_ timing: TokenTiming, id: ConsentID = Plans.id(1), failures: Int = 0) -> ConsentRecord {
        ConsentRecord(
            id: id, provider: ProviderKey(name: "acme", environment: nil),
            issuer: IssuingClient(clientID: "c", tokenEndpoint: "https://op.test/token"),
            status: failures > 0 ? .failing : .active, requested: ScopeSet(["openid"]), granted: ScopeSet(["openid"]),
            profileStatus: .current, profileFetchedAt: nil, generation: 3, timing: timing, isRefreshable: true,
            refreshFailures: failures, client: nil, notice: nil, createdAt: start, updatedAt: start)
    }

    /// An hour from `start`, due when it lapses.
    static let hour = TokenTiming(
        issuedAt: start, accessTokenExpiresAt: start.advanced(by: .seconds(3600)), refreshTokenExpiresAt: nil,
        dueAt: start.advanced(by: .seconds(3300)))

    static func doubt(sentAt: Instant) -> RefreshAttempt {
        let id = UUIDv7(milliseconds: 1, random: (1, 1))
        return RefreshAttempt(id: AttemptID(id), phase: .unknown, owner: InstanceID(id), sentAt: sentAt)
    }
}
