// SPDX-License-Identifier: Apache-2.0
extension RefreshPolicy {
    /// Where a grant lies in a jitter's range: stable for one consent and generation, spread over all of them.
    package static func spread(of id: ConsentID, generation: Int64) -> Double {
        // splitmix64's finaliser: the identifier's time bits would put a batch's grants side by side.
        let step: UInt64 = 0x9E37_79B9_7F4A_7C15
        var word = (id.uuid.high &* step) ^ id.uuid.low &+ UInt64(bitPattern: generation) &* step
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return Double((word ^ (word >> 31)) >> 11) / Double(1 << 53)
    }

    /// Where a try lies in its backoff's range, from 0 to 1.
    ///
    /// Tries come in pairs, and the second lies as far from the range's end as the first from its beginning: each wait
    /// is uniform, and their sum hardly differs from grant to grant. So a long outage sees the same few calls of each.
    /// - Parameter failures: how many went before, from 0.
    package static func spread(of id: ConsentID, generation: Int64, afterFailures failures: Int) -> Double {
        let pair = Int64(max(0, failures) / 2) &+ 1
        let place = spread(of: id, generation: generation &* 0x1_0001 &+ pair &* 0x5DEE_CE66_D)
        return failures % 2 == 0 ? place : 1 - place
    }

    /// A place in a range, whatever a caller gave.
    static func fraction(_ spread: Double) -> Double { spread >= 0 ? min(spread, 1) : 0 }

    package static let longestBackoff = Duration.seconds(6 * 3600)

    /// The wait after the n-th failure in a row: uniform in the upper half of `min(30 s · 2ⁿ, ceiling)`.
    /// - Parameters:
    ///   - failures: how many went before, from 0.
    ///   - ceiling: ``longestBackoff``, or less where a refresh token is near its end.
    ///   - spread: 0 to 1.
    package static func backoff(afterFailures failures: Int, ceiling: Duration, spread: Double) -> Duration {
        let full = min(Duration.seconds(30) * (1 << min(max(failures, 0), 16)), ceiling)
        return full / 2 + full / 2 * fraction(spread)
    }

    /// The wait where no end is near.
    package static func backoff(afterFailures failures: Int, spread: Double) -> Duration {
        backoff(afterFailures: failures, ceiling: longestBackoff, spread: spread)
    }
}
