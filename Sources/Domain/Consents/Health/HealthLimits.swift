// SPDX-License-Identifier: Apache-2.0

/// The numbers that a provider's health goes by.
package enum HealthLimits {
    /// A gate lasts no longer, whatever a provider tells.
    package static let longestGate = Duration.seconds(3600)
    package static let shortestGate = Duration.seconds(1)
    /// Failures in a row, before a byte left, from which on a breaker is open.
    package static let failuresToOpen = 5
    /// Between two trials of a paused provider, or of one whose verdicts are held.
    package static let trialInterval = Duration.seconds(60)
    /// The longest wait before a trial of a provider that cannot be reached: live callers wait for it.
    package static let longestWaitUnreachable = Duration.seconds(60)
    /// The longest wait before a trial that may cost a grant.
    package static let longestWaitUnknown = Duration.seconds(300)
    /// No trial is under way for longer: a lease's bound.
    package static let longestTrial = Duration.seconds(3600)
    /// How soon somebody may ask again whether a trial has ended.
    package static let trialPoll = Duration.seconds(5)

    /// The wait after the n-th failed trial: uniform in the upper half of `min(15 s · 2ⁿ, longest)`.
    static func trialWait(after failed: Int, longest: Duration, spread: Double) -> Duration {
        let full = min(Duration.seconds(15) * (1 << min(max(failed, 0), 10)), longest)
        return full / 2 + full / 2 * spread
    }

    /// Where the provider names no delay: the backoff after so many throttled calls, within a gate's bounds.
    static func gate(told: Duration?, after throttles: Int, spread: Double) -> Duration {
        let delay = told ?? RefreshPolicy.backoff(afterFailures: throttles, spread: spread)
        return min(max(delay, shortestGate), longestGate)
    }
}
