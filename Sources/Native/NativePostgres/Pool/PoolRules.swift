// SPDX-License-Identifier: Apache-2.0
/// How large a pool is, and how long a connection that cannot be had is left alone.
package struct PoolRules: Sendable, Equatable {
    /// Connections; as many are kept open.
    package var size: Int
    /// Before the second try to connect; each further one waits twice as long.
    package var firstPause: Duration
    /// What the pause does not grow beyond.
    package var longestPause: Duration

    package init(size: Int, firstPause: Duration, longestPause: Duration) {
        self.size = size
        self.firstPause = firstPause
        self.longestPause = longestPause
    }

    /// How long to wait after so many failures in a row: doubled each time up to the longest, then between half and all
    /// of it, so that many processes do not come back together.
    /// - Parameter jitter: 0 to 1.
    func pause(after failures: Int, jitter: Double) -> Duration {
        var pause = min(firstPause, longestPause)
        for _ in 1..<max(1, min(failures, 64)) where pause < longestPause { pause = min(pause * 2, longestPause) }
        let half: Duration = pause / 2
        let thousandths = Int(max(0, min(1, jitter)) * 1000)
        return half + half * thousandths / 1000
    }
}
