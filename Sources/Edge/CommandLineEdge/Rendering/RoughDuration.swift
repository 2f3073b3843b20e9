// SPDX-License-Identifier: Apache-2.0

extension DurationText {
    private static let units: [(name: String, seconds: Int64)] = [("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)]

    /// For people: the two largest units, the rest cut off, as in `29d 12h`, `30d` or `0s`.
    static func rough(_ duration: Duration) -> String {
        var rest = max(0, duration.components.seconds)
        guard let first = units.firstIndex(where: { rest >= $0.seconds }) else { return "0s" }
        var parts: [String] = []
        for unit in units[first...].prefix(2) {
            if rest >= unit.seconds { parts.append("\(rest / unit.seconds)\(unit.name)") }
            rest %= unit.seconds
        }
        return parts.joined(separator: " ")
    }
}
