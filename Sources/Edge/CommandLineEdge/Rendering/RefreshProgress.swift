// SPDX-License-Identifier: Apache-2.0
/// How far a sweep has come, as one line that is written over again.
package struct RefreshProgress: Sendable, Equatable {
    /// Consents whose refresh is over.
    package var done = 0
    /// Those of them that were not refreshed.
    package var failed = 0
    /// Consents found until now.
    package var known = 0
    /// Whether no more will be found.
    package var isKnownWhole = false
    /// Since the sweep began.
    package var elapsed = Duration.zero

    package init() {}

    private static let barWidth = 24

    /// As in `[############------------] 15/30+  7.5/s  1 failed`: ASCII, never wider than a terminal of 80 columns.
    /// A `+` says that more may be found.
    package var line: String {
        let filled = known == 0 ? 0 : min(done, known) * RefreshProgress.barWidth / known
        let bar =
            String(repeating: "#", count: filled)
            + String(repeating: "-", count: RefreshProgress.barWidth - filled)
        return "[\(bar)] \(done)/\(known)\(isKnownWhole ? "" : "+")  \(rate)/s  \(failed) failed"
    }

    /// Refreshes a second on average, with one decimal.
    private var rate: String {
        let (seconds, attoseconds) = elapsed.components
        let milliseconds = Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000)
        let tenths = milliseconds <= 0 ? 0 : done * 10_000 / milliseconds
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// The bytes that put this line over one of `previous` columns.
    package func overwriting(_ previous: Int) -> String { RefreshProgress.overwriting(previous, with: line) }

    /// The bytes that put another line over one of `previous` columns.
    package static func overwriting(_ previous: Int, with line: String) -> String {
        "\r" + line + String(repeating: " ", count: max(0, previous - line.count))
    }

    /// The bytes that take away a line of `previous` columns.
    package static func erasing(_ previous: Int) -> String {
        previous == 0 ? "" : "\r" + String(repeating: " ", count: previous) + "\r"
    }
}
