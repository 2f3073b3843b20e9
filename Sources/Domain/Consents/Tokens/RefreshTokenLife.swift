// SPDX-License-Identifier: Apache-2.0
/// A refresh token's own life, where somebody tells of one (refresh.md, *The refresh token's end*).
package struct RefreshTokenLife: Sendable, Equatable {
    package let issuedAt: Instant
    package let end: Instant
    /// Whether the provider told it of this token; else it is the profile's `idle_life`.
    package let isTold: Bool

    package init(issuedAt: Instant, end: Instant, isTold: Bool) {
        self.issuedAt = issuedAt
        self.end = end
        self.isTold = isTold
    }

    /// `R`.
    package var length: Duration { issuedAt.duration(to: end) }
    /// From then on the grant goes first and its next tries are close to each other.
    package var hurriesAt: Instant { issuedAt.advanced(by: length * 3 / 4) }
    /// From then on the person's new consent is asked for: `consent.reauthorization_soon`, once.
    package var warnsAt: Instant { issuedAt.advanced(by: length * 4 / 5) }

    /// The longest backoff of its grant's tries at that moment: `R/50` past `0.75·R`, and never under 30 s.
    package func backoffCeiling(at now: Instant) -> Duration {
        guard now >= hurriesAt else { return RefreshPolicy.longestBackoff }
        return min(RefreshPolicy.longestBackoff, max(RefreshPolicy.leastBetweenRefreshes, length / 50))
    }
}

extension RefreshPolicy {
    /// The life of a token set's refresh token: the told one, else the profile's idle life; nil where nobody tells one.
    package func refreshTokenLife(_ timing: TokenTiming) -> RefreshTokenLife? {
        if let end = timing.refreshTokenExpiresAt, end > timing.issuedAt {
            return RefreshTokenLife(issuedAt: timing.issuedAt, end: end, isTold: true)
        }
        return idleLife.map { life in
            RefreshTokenLife(
                issuedAt: timing.issuedAt, end: timing.issuedAt.advanced(by: life), isTold: false)
        }
    }
}
