// SPDX-License-Identifier: Apache-2.0
/// Clocks jump: what was stored by one that was ahead is not believed further than any delay could have made it.
extension TokenTiming {
    /// How long the access token was to live; never negative.
    package var accessLife: Duration { max(.zero, issuedAt.duration(to: accessTokenExpiresAt)) }

    /// When the access token lapses, no further ahead than it was to live in all.
    package func believedExpiry(at now: Instant) -> Instant {
        min(accessTokenExpiresAt, now.advanced(by: accessLife))
    }
}

extension RefreshPolicy {
    /// The longest that a token set's `due_at` can have lain ahead when it was written: the policy's own delay, half of
    /// the refresh token's life, a backoff, or the access token's life after a doubtful sending.
    package func longestDelay(of timing: TokenTiming) -> Duration {
        var longest = max(RefreshPolicy.longestBackoff, timing.accessLife)
        if kind == .keepAlive { longest = max(longest, interval) }
        if let life = refreshTokenLife(timing) { longest = max(longest, life.length / 2) }
        return longest
    }

    /// What no delay of any of a provider's token sets is shorter than at its longest.
    package var leastLongestDelay: Duration {
        kind == .keepAlive ? max(RefreshPolicy.longestBackoff, interval) : RefreshPolicy.longestBackoff
    }

    /// When a grant is due; now, where the stored time lies further ahead than it can have been meant.
    package func believedDue(_ timing: TokenTiming, at now: Instant) -> Instant? {
        timing.dueAt.map { $0 <= now.advanced(by: longestDelay(of: timing)) ? $0 : now }
    }
}
