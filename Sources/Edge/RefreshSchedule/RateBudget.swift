// SPDX-License-Identifier: Apache-2.0

/// How many calls a provider still takes: a bucket of tokens that fills with time. Pure.
///
/// Live calls take a token each without asking, if need be one that has yet to come. Background work asks first: it
/// leaves a fifth to the others, and never comes in a burst.
package struct RateBudget: Sendable {
    /// Tokens that come in a second.
    private let perSecond: Double
    private let capacity: Double
    private var tokens: Double
    /// When the tokens were counted, and when the next background call may go; monotonic.
    private var countedAt: Duration
    private var nextAt: Duration
    /// The least time between two background calls.
    private let spacing: Duration

    /// What background work takes of the rate at most.
    private static let backgroundShare = 0.8

    /// - Parameters:
    ///   - count: calls in `period`, both more than 0.
    ///   - now: monotonic, as everywhere here.
    package init(count: Int, per period: Duration, at now: Duration) {
        perSecond = Double(count) / max(period.inSeconds, 0.001)
        // A second's worth, as the rate is felt by the provider; one call at least.
        capacity = max(1, min(Double(count), perSecond))
        tokens = capacity
        countedAt = now
        nextAt = now
        spacing = .seconds(1 / (perSecond * RateBudget.backgroundShare))
    }

    /// A call goes out, whoever makes it.
    package mutating func spend(at now: Duration) {
        fill(until: now)
        // A debt of more than a second's worth would keep background work out for long.
        tokens = max(tokens - 1, -capacity)
    }

    /// Asks for one background call.
    /// - Returns: nil where it may go now, else when to ask again.
    package mutating func admit(at now: Duration) -> Duration? {
        fill(until: now)
        if nextAt > now { return nextAt }
        let floor = min(1, capacity * (1 - RateBudget.backgroundShare))
        if tokens < floor { return now + .seconds((floor - tokens) / perSecond) }
        nextAt = max(now, nextAt) + spacing
        return nil
    }

    private mutating func fill(until now: Duration) {
        guard now > countedAt else { return }
        tokens = min(capacity, tokens + (now - countedAt).inSeconds * perSecond)
        countedAt = now
    }
}

extension Duration {
    var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
