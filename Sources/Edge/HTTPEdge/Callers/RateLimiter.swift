// SPDX-License-Identifier: Apache-2.0

/// Counts what each key does against one rate, by its virtual clock (the generic cell rate algorithm): a burst of the
/// whole count is let through, then one an interval. Pure: time comes in.
struct RateLimiter<Key: Hashable & Sendable>: Sendable {
    /// One in so much time on the average.
    private let interval: Duration
    /// How far ahead a key's virtual clock may run.
    private let tolerance: Duration
    private let capacity: Int
    private var clocks: [Key: Duration] = [:]

    /// - Parameters:
    ///   - count: at least 1, in `period`.
    ///   - capacity: how many keys are remembered; more than that at once are let through rather than refused.
    init(count: Int, per period: Duration, capacity: Int) {
        let count = max(1, count)
        interval = period / count
        tolerance = interval * (count - 1)
        self.capacity = capacity
    }

    /// How many keys are remembered.
    var size: Int { clocks.count }

    /// Takes one from the key's allowance.
    /// - Parameter now: monotonic.
    /// - Returns: nil where it is allowed, else the time until it would be.
    mutating func take(_ key: Key, at now: Duration) -> Duration? {
        let known = clocks[key]
        let clock = max(known ?? now, now)
        if clock - now > tolerance { return clock - now - tolerance }
        if known == nil, clocks.count >= capacity {
            clocks = clocks.filter { $0.value > now }
            guard clocks.count < capacity else { return nil }
        }
        clocks[key] = clock + interval
        return nil
    }
}
