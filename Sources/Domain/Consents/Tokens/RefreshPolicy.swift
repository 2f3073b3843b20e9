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

    /// No grant is refreshed twice within this by itself.
    package static let leastBetweenRefreshes = Duration.seconds(30)
    /// Tokens that live less are never refreshed ahead, and a refresh token's told life under it was not told.
    package static let leastLife = Duration.seconds(60)
    /// Ten years of 366 days, in seconds: a told life over it is unknown.
    package static let longestToldLife: Int64 = 10 * 366 * 86_400

    /// The times of a token set.
    /// - Parameters:
    ///   - old: the times of the token set that a refresh replaces; nil for a code's first ones.
    ///   - spread: where in the jitter's range this grant lies, 0 to 1, the same for one consent and generation.
    package func timing(
        of answer: TokenAnswer, issuedAt: Instant, replacing old: TokenTiming?, isRefreshable: Bool, spread: Double
    ) -> TokenTiming {
        let accessLife = RefreshPolicy.toldLife(answer.expiresIn) ?? defaultLifetime
        var timing = TokenTiming(
            issuedAt: issuedAt, accessTokenExpiresAt: issuedAt.advanced(by: accessLife), refreshTokenExpiresAt: nil,
            dueAt: nil)
        guard isRefreshable else { return timing }
        timing.refreshTokenExpiresAt = RefreshPolicy.toldEnd(of: answer, issuedAt: issuedAt, replacing: old)
        timing.dueAt = dueTime(
            issuedAt: issuedAt, accessLife: accessLife, refreshLife: refreshTokenLife(timing)?.length, spread: spread)
        if old != nil {
            let soonest = issuedAt.advanced(by: RefreshPolicy.leastBetweenRefreshes)
            timing.dueAt = timing.dueAt.map { max($0, soonest) }
        }
        return timing
    }

    /// When tokens of these lives are refreshed by themselves; nil where they are not.
    ///
    /// `margin = min(max(30 s, min(0.2·L, 300 s)), 0.4·L)`; due at `issued + L − margin − jitter`, where `keep_alive`
    /// takes its interval for `L`; under every policy no later than half of the refresh token's life, less up to a
    /// tenth of it.
    package func dueTime(issuedAt: Instant, accessLife: Duration, refreshLife: Duration?, spread: Double) -> Instant? {
        let own = ownDelay(accessLife: accessLife, spread: spread)
        guard let life = refreshLife, life >= RefreshPolicy.leastLife else { return own.map(issuedAt.advanced(by:)) }
        let latest = life / 2 - life * (0.1 * RefreshPolicy.fraction(spread))
        return issuedAt.advanced(by: own.map { min($0, latest) } ?? latest)
    }

    /// From a token's issue to its refresh by the policy alone; nil where it asks for none.
    func ownDelay(accessLife: Duration, spread: Double) -> Duration? {
        let life: Duration
        switch kind {
        case .keepFresh where accessLife >= RefreshPolicy.leastLife: life = accessLife
        case .keepAlive: life = interval
        case .keepFresh, .onDemand: return nil
        }
        let margin = min(max(.seconds(30), min(life * 0.2, .seconds(300))), life * 0.4)
        return life - margin - life * (0.1 * RefreshPolicy.fraction(spread))
    }

    /// A told life that can be used: 0, negative and over ten years is unknown.
    static func toldLife(_ seconds: Int64?) -> Duration? {
        guard let seconds, seconds > 0, seconds <= longestToldLife else { return nil }
        return .seconds(seconds)
    }

    /// Until when the refresh token is good by the provider's word. One that was kept, and of which nothing new was
    /// told, keeps its end until that has turned out to be wrong.
    private static func toldEnd(of answer: TokenAnswer, issuedAt: Instant, replacing old: TokenTiming?) -> Instant? {
        if let life = toldLife(answer.refreshTokenExpiresIn), life >= leastLife { return issuedAt.advanced(by: life) }
        guard answer.tokens.refreshToken == nil, let kept = old?.refreshTokenExpiresAt, kept > issuedAt else {
            return nil
        }
        return kept
    }
}
