// SPDX-License-Identifier: Apache-2.0
import Consents

@testable import AnswerJournals

/// What holds for every file of the answer journal. An input is read as a file, and as a recipe for one: entries that
/// are written one behind the other, then damaged in places that the input names.
enum JournalProperties {
    static func check(_ input: [UInt8], _ breaches: inout Breaches) {
        checkFile(input, &breaches)
        var recipe = Recipe(input)
        let written = recipe.entries()
        let whole = written.reduce(into: [UInt8]()) { $0 += $1.bytes }
        let intact = JournalFormat.read(whole)
        breaches.expect(
            intact.entries.map(\.entry) == written.map(\.entry) && intact.end == whole.count && !intact.isTorn,
            "entries that were written are not read")
        var damaged = whole
        let firstDamage = recipe.damage(&damaged)
        checkFile(damaged, &breaches)
        let read = JournalFormat.read(damaged).entries.map(\.entry)
        breaches.expect(
            read.allSatisfy { found in written.contains { $0.entry == found } },
            "an entry was read that nobody wrote")
        var end = 0
        let untouched = written.prefix { entry in
            end += entry.bytes.count
            return end <= firstDamage
        }
        breaches.expect(
            read.starts(with: untouched.map(\.entry)), "damage further on cost an entry that is whole")
    }

    /// Each entry that is found must be, byte for byte, what the writer makes of it, its checksum with it.
    private static func checkFile(_ file: [UInt8], _ breaches: inout Breaches) {
        let contents = JournalFormat.read(file)
        breaches.expect(contents.end <= file.count, "a file ends behind its end")
        for (offset, entry) in contents.entries {
            let bytes = JournalFormat.bytes(of: entry, round: contents.round ?? 0)
            breaches.expect(
                file[offset...].starts(with: bytes), "an entry was read that its checksum does not belong to")
        }
        let again = JournalFormat.read(Array(file.prefix(contents.end)))
        breaches.expect(
            !again.isTorn && again.entries.map(\.entry) == contents.entries.map(\.entry),
            "the whole part of a file is read otherwise than the file")
    }

    /// Takes its steps from the input, byte by byte; zeros once it is used up.
    private struct Recipe {
        private var rest: ArraySlice<UInt8>

        init(_ input: [UInt8]) { rest = input[...] }

        private mutating func next() -> Int { Int(rest.popFirst() ?? 0) }

        mutating func entries() -> [(entry: JournalEntry, bytes: [UInt8])] {
            let round = UInt32(1 + next() % 3)
            return (0..<(next() % 5)).map { index in
                let payload = (0..<(next() % 40)).map { _ in UInt8(next()) }
                let id = UUIDv7(milliseconds: UInt64(index), random: (UInt64(next()), UInt64(next())))
                let entry = JournalEntry(id: id, sealed: SealedBytes(payload))
                return (entry, JournalFormat.bytes(of: entry, round: round))
            }
        }

        /// Changes single bytes and cuts the end.
        /// - Returns: the first byte that was touched.
        mutating func damage(_ file: inout [UInt8]) -> Int {
            var first = file.count
            for _ in 0..<(next() % 4) where !file.isEmpty {
                let place = (next() << 8 | next()) % file.count
                let mask = UInt8(next())
                file[place] ^= mask
                if mask != 0 { first = min(first, place) }
            }
            let cut = next()
            guard cut > 0, cut < file.count else { return first }
            file.removeLast(cut)
            return min(first, file.count)
        }
    }
}
