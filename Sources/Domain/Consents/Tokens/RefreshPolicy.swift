// SPDX-License-Identifier: Apache-2.0
/// How a provider's grants are kept alive (refresh.md, *When*).
package struct RefreshPolicy: Sendable, Equatable {
    /// When a grant is refreshed without anybody asking.
    package enum Kind: String, Sendable {
        case keepAlive = "keep_alive"
        case keepFresh = "keep_fresh"
        case onDemand = "on_demand"
    }
    /// What the provider does when an old refresh token comes back.
    package enum Reuse: Sendable, Equatable { case fixed, grace(Duration), forbidden }

    package var kind: Kind
    package var interval: Duration
    package var reuse: Reuse
    /// The provider ends an unused refresh token after this; nil where it does not.
    package var idleLife: Duration?
    package var defaultLifetime: Duration

    package init(kind: Kind, interval: Duration, reuse: Reuse, idleLife: Duration?, defaultLifetime: Duration) {
        self.kind = kind
        self.interval = interval
        self.reuse = reuse
        self.idleLife = idleLife
        self.defaultLifetime = defaultLifetime
    }

    /// The times of a token set.
    ///
    /// `margin = min(max(30 s, min(0.2·L, 300 s)), 0.4·L)`; due at `issued + L − margin − jitter`; under every
    /// policy no later than half of the refresh token's life, less up to a tenth of it.
    /// - Parameters:
    ///   - spread: where in the jitter's range this grant lies, 0 to 1, the same for one consent and generation.
    package func timing(of answer: TokenAnswer, issuedAt: Instant, isRefreshable: Bool, spread: Double) -> TokenTiming {
        let accessLife = answer.expiresIn.map { Duration.seconds($0) } ?? defaultLifetime
        let refreshLife = answer.refreshTokenExpiresIn.map { Duration.seconds($0) }
        let expiry = issuedAt.advanced(by: accessLife)
        guard isRefreshable else {
            return TokenTiming(
                issuedAt: issuedAt, accessTokenExpiresAt: expiry, refreshTokenExpiresAt: nil, dueAt: nil)
        }
        var due: Instant?
        switch kind {
        case .keepFresh where accessLife >= .seconds(60): due = RefreshPolicy.due(issuedAt, accessLife, spread)
        case .keepAlive: due = RefreshPolicy.due(issuedAt, interval, spread)
        case .keepFresh, .onDemand: due = nil
        }
        if let life = refreshLife ?? idleLife {
            let latest = issuedAt.advanced(by: life / 2 - life * (0.1 * spread))
            due = due.map { min($0, latest) } ?? latest
        }
        return TokenTiming(
            issuedAt: issuedAt, accessTokenExpiresAt: expiry,
            refreshTokenExpiresAt: refreshLife.map(issuedAt.advanced(by:)), dueAt: due)
    }

    private static func due(_ issuedAt: Instant, _ life: Duration, _ spread: Double) -> Instant {
        let margin = min(max(.seconds(30), min(life * 0.2, .seconds(300))), life * 0.4)
        return issuedAt.advanced(by: life - margin - life * (0.1 * spread))
    }

    /// Where a grant lies in a jitter's range: stable for one consent and generation, spread over all of them.
    package static func spread(of id: ConsentID, generation: Int64) -> Double {
        // splitmix64's finaliser: the identifier's time bits would put a batch's grants side by side.
        let step: UInt64 = 0x9E37_79B9_7F4A_7C15
        var word = (id.uuid.high &* step) ^ id.uuid.low &+ UInt64(bitPattern: generation) &* step
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return Double((word ^ (word >> 31)) >> 11) / Double(1 << 53)
    }

    /// The wait after the n-th failure in a row: uniform in the upper half of `min(30 s · 2ⁿ, 6 h)`.
    /// - Parameters:
    ///   - failures: how many went before, from 0.
    ///   - spread: 0 to 1.
    package static func backoff(afterFailures failures: Int, spread: Double) -> Duration {
        let full = min(Duration.seconds(30) * (1 << min(max(failures, 0), 16)), .seconds(6 * 3600))
        return full / 2 + full / 2 * spread
    }
}
