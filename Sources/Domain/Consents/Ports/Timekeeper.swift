// SPDX-License-Identifier: Apache-2.0
/// Time and randomness, as they come into the house. Civil time is for records; deadlines are measured on the
/// monotonic clock, leases on one that counts a machine's sleep too.
package protocol Timekeeper: Sendable {
    var now: Instant { get }
    /// Time since an arbitrary start that never goes back.
    var monotonic: Duration { get }
    /// Time since the machine's start that never goes back and goes on while the machine sleeps, as a store's clock does:
    /// what a lease is measured by.
    var sinceBoot: Duration { get }
    /// Returns at that monotonic time, or at once if it is past.
    func sleep(until monotonic: Duration) async throws(CancellationError)
}

/// Randomness, as it comes into the house.
package protocol Entropy: Sendable {
    /// Bits that nobody can guess.
    func randomBits() -> (UInt64, UInt64)
}

extension Entropy {
    /// A new time-ordered identifier.
    package func identifier(at now: Instant) -> UUIDv7 {
        UUIDv7(milliseconds: UInt64(max(0, now.milliseconds)), random: randomBits())
    }
}

/// Starts work that nobody waits for: a flight goes on when the caller who began it hangs up.
package protocol TaskLauncher: Sendable {
    /// Runs the work beside the caller, on the same thread where the caller has one of its own.
    @discardableResult
    func launch(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never>
}
