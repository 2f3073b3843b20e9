// SPDX-License-Identifier: Apache-2.0
/// The name that is most like `word`, where one is like enough: at most a third of its letters differ, and never more
/// than three. Else one that begins so. Letter case, leading dashes, and `_` for `-` do not count.
func nearestName(to word: String, among names: [String]) -> String? {
    let wanted = folded(word)
    guard (2...64).contains(wanted.count) else { return nil }
    let limit = min(3, max(1, wanted.count / 3))
    let nearest = names.map { (name: $0, distance: editDistance(wanted, folded($0))) }
        .filter { $0.distance <= limit }
        .min { ($0.distance, $0.name) < ($1.distance, $1.name) }
    return nearest?.name ?? (wanted.count < 3 ? nil : names.first { folded($0).starts(with: wanted) })
}

private func folded(_ word: String) -> [UInt8] {
    word.lowercased().utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }
        .drop { $0 == UInt8(ascii: "-") }.map(\.self)
}

/// Optimal string alignment: how many bytes are put in, left out, replaced or swapped with their neighbour.
private func editDistance(_ first: [UInt8], _ second: [UInt8]) -> Int {
    guard !first.isEmpty, !second.isEmpty else { return max(first.count, second.count) }
    var rows: (beforeLast: [Int], last: [Int]) = ([], Array(0...second.count))
    for row in 1...first.count {
        var current = [row]
        for column in 1...second.count {
            let isSame = first[row - 1] == second[column - 1]
            var best = min(rows.last[column] + 1, current[column - 1] + 1, rows.last[column - 1] + (isSame ? 0 : 1))
            if row > 1, column > 1, first[row - 1] == second[column - 2], first[row - 2] == second[column - 1] {
                best = min(best, rows.beforeLast[column - 2] + 1)
            }
            current.append(best)
        }
        rows = (rows.last, current)
    }
    return rows.last[second.count]
}
