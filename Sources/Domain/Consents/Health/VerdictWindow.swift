// SPDX-License-Identifier: Apache-2.0

/// How a provider's last distinct grants came out, as far as the death brake must know: nothing while none has died of
/// late (refresh.md, *Death brake*).
package struct VerdictWindow: Sendable, Equatable {
    package struct Verdict: Sendable, Equatable {
        package var grant: ConsentID
        package var isDead: Bool
        package var at: Instant
    }

    /// Oldest first, one a grant.
    package private(set) var verdicts: [Verdict] = []

    static let size = 20
    static let period = Duration.seconds(600)
    static let deaths = 5

    package init() {}

    package var isEmpty: Bool { verdicts.isEmpty }

    /// Notes how a grant came out. A success counts only while a death of late stands there.
    mutating func note(_ grant: ConsentID, isDead: Bool, at now: Instant) {
        guard isDead || !isBlank(at: now) else { return verdicts = [] }
        verdicts.removeAll { $0.grant == grant }
        verdicts.append(Verdict(grant: grant, isDead: isDead, at: now))
        if verdicts.count > VerdictWindow.size { verdicts.removeFirst(verdicts.count - VerdictWindow.size) }
        if isBlank(at: now) { verdicts = [] }
    }

    /// Whether no death of late stands there: the next one is the first, and what came before it is to be recalled.
    package func isBlank(at now: Instant) -> Bool { recentDeaths(at: now).isEmpty }

    /// How many grants are to be recalled at the first death.
    package static let recalled = size - 1

    /// Recalls grants that had come out somehow before the first death, so that successes cost no write while all is
    /// well.
    ///
    /// Which ones does not matter: none of them has died of late. Where nineteen others are recalled the window is full,
    /// and whatever comes pushes one of them out, as it would have pushed out or moved one of the true last ones; where
    /// there are fewer, these are all there ever were. So deaths and size are those of the last twenty.
    mutating func recall(_ earlier: [ConsentID], at now: Instant) {
        let known = Set(verdicts.map(\.grant))
        let missing = earlier.filter { !known.contains($0) }.suffix(max(0, VerdictWindow.size - verdicts.count))
        verdicts.insert(contentsOf: missing.map { Verdict(grant: $0, isDead: false, at: now) }, at: 0)
    }

    /// Five or more within ten minutes, and over half of all.
    func tellsOfTooMany(at now: Instant) -> Bool {
        let dead = recentDeaths(at: now).count
        return dead >= VerdictWindow.deaths && 2 * dead > verdicts.count
    }

    /// Those that no clock could have dated further away than the period.
    package func recentDeaths(at now: Instant) -> [ConsentID] {
        verdicts.filter { $0.isDead && VerdictWindow.isNear($0.at, now) }.map(\.grant)
    }

    private static func isNear(_ at: Instant, _ now: Instant) -> Bool {
        now <= at.advanced(by: period) && at <= now.advanced(by: period)
    }
}

extension VerdictWindow {
    /// As it lies in the store: `d` or `a`, the grant, the time; a comma between two.
    package var text: String {
        verdicts.map { "\($0.isDead ? "d" : "a")\($0.grant.uuid.hexadecimal)\($0.at.milliseconds)" }
            .joined(separator: ",")
    }

    /// A part that cannot be read is left out.
    package init(text: String) {
        verdicts = text.split(separator: ",").suffix(VerdictWindow.size).compactMap { part in
            guard let mark = part.first, mark == "d" || mark == "a",
                let grant = UUIDv7(hexadecimal: part.dropFirst().prefix(32)),
                let at = Int64(part.dropFirst(33))
            else { return nil }
            return Verdict(grant: ConsentID(grant), isDead: mark == "d", at: Instant(milliseconds: at))
        }
    }
}
