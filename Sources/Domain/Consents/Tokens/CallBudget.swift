// SPDX-License-Identifier: Apache-2.0
/// How often one process may call a provider (`rate_limit`): background work takes at most 80 % of it, so that live
/// traffic always finds some.
package struct CallBudget: Sendable, Equatable {
    /// At least 1.
    package let calls: Int
    /// Over zero.
    package let period: Duration

    /// - Returns: nil where it would allow nothing.
    package init?(calls: Int, period: Duration) {
        guard calls > 0, period > .zero else { return nil }
        self.calls = calls
        self.period = period
    }

    package static let backgroundShare = 0.8

    /// What background work may have of it.
    package var backgroundCallsPerMinute: Double {
        Double(calls) / (period / .seconds(60)) * CallBudget.backgroundShare
    }
}
