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
        if recentDeaths(at: now).isEmpty { verdicts = [] }
        guard isDead || !verdicts.isEmpty else { return }
        verdicts.removeAll { $0.grant == grant }
        verdicts.append(Verdict(grant: grant, isDead: isDead, at: now))
        if verdicts.count > VerdictWindow.size { verdicts.removeFirst(verdicts.count - VerdictWindow.size) }
        if recentDeaths(at: now).isEmpty { verdicts = [] }
    }

    /// What came before the first death, where somebody remembers it.
    mutating func recall(_ successes: [ConsentID], at now: Instant) {
        guard verdicts.isEmpty else { return }
        verdicts = successes.suffix(VerdictWindow.size).map { Verdict(grant: $0, isDead: false, at: now) }
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
