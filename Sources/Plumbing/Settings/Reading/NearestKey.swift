// SPDX-License-Identifier: Apache-2.0

/// The word of `words` that is most like `word`, where one is like enough: at most a third of its letters differ,
/// and never more than three. Letter case and `-` for `_` do not count.
func nearest(to word: String, among words: some Sequence<String>) -> String? {
    let wanted = folded(word)
    guard wanted.count <= 64 else { return nil }
    let limit = min(3, max(1, wanted.count / 3))
    return words.map { (word: $0, distance: editDistance(wanted, folded($0))) }
        .filter { $0.distance <= limit }
        .min { ($0.distance, $0.word) < ($1.distance, $1.word) }?.word
}

private func folded(_ word: String) -> [UInt8] {
    word.lowercased().utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }
}

/// Optimal string alignment: how many bytes are put in, left out, replaced or swapped with their neighbour.
private func editDistance(_ first: [UInt8], _ second: [UInt8]) -> Int {
    guard !first.isEmpty, !second.isEmpty else { return max(first.count, second.count) }
    var beforeLast: [Int] = []
    var last = Array(0...second.count)
    for row in 1...first.count {
        var current = [row]
        for column in 1...second.count {
            let same = first[row - 1] == second[column - 1]
            var best = min(last[column] + 1, current[column - 1] + 1, last[column - 1] + (same ? 0 : 1))
            if row > 1, column > 1, first[row - 1] == second[column - 2], first[row - 2] == second[column - 1] {
                best = min(best, beforeLast[column - 2] + 1)
            }
            current.append(best)
        }
        (beforeLast, last) = (last, current)
    }
    return last[second.count]
}
