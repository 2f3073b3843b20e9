// SPDX-License-Identifier: Apache-2.0
/// Durations as the contract writes them: `500ms`, `30s`, `15m`, `12h`, `90d`, `6y` (a year is 365 days).
enum DurationText {
    private static let milliseconds = [
        "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "y": 31_536_000_000,
    ]

    /// - Returns: nil for what is not of that form, or longer than 100 years.
    static func duration(_ text: String) -> Duration? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard digits.count <= 15, let count = Int(digits), let unit = milliseconds[String(text[digits.endIndex...])],
            count <= 100 * 31_536_000_000 / unit
        else { return nil }
        return .milliseconds(count * unit)
    }
}
