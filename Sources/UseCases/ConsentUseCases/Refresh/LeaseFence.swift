// SPDX-License-Identifier: Apache-2.0
package import Consents

/// Whether a refresh token may still be sent under its lease: the answer must be in before the lease ends (refresh.md,
/// *One refresh*, 3). By the clock that counts a machine's sleep, as the store's does: one that was suspended between the
/// claim and the sending finds its lease over.
package struct LeaseFence: Sendable {
    private let latest: Duration

    /// What is left of a lease after the longest wait for an answer, for keeping what came.
    private static let reserve = Duration.seconds(30)

    /// - Parameter start: since the machine's start, and before the claim was written.
    package init(of lease: Duration, from start: Duration, for timeouts: ProviderTimeouts) {
        latest = start + lease - timeouts.answer - LeaseFence.reserve
    }

    /// - Parameter now: since the machine's start.
    package func isOpen(at now: Duration) -> Bool { now <= latest }
}
