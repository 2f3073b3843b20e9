// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeCrypto

/// How entries lie in a journal's file, one behind the other. Pure.
///
/// An entry is a mark of 4 bytes (`CGJ1`, and `CGJ0` once it is settled), the file's round, the payload's length (both 4
/// bytes, least significant first), the identifier's 16 bytes, SHA-256 over all from the round on but itself, and the
/// payload. Once nothing waits any more the file is written from its beginning again, in the next round: what an earlier
/// round left behind the end is not taken for an entry.
enum JournalFormat {
    static let headerLength = 60
    static let waiting: [UInt8] = Array("CGJ1".utf8)
    static let settled: [UInt8] = Array("CGJ0".utf8)

    /// What a file holds.
    struct Contents {
        var entries: [(offset: Int, entry: JournalEntry)] = []
        /// Where the next entry goes.
        var end = 0
        /// Nil in a file that was never written to.
        var round: UInt32?
        /// Whether an entry begins at `end` that is not whole.
        var isTorn = false
    }

    static func bytes(of entry: JournalEntry, round: UInt32) -> [UInt8] {
        let payload = entry.sealed.bytes
        var bytes: [UInt8] = []
        bytes.reserveCapacity(headerLength + payload.count)
        bytes += waiting
        bytes += word(round)
        bytes += word(UInt32(payload.count))
        bytes += entry.id.bytes
        bytes += sha256(Array(bytes[4...]) + payload)
        bytes += payload
        return bytes
    }

    static func read(_ file: [UInt8]) -> Contents {
        var contents = Contents()
        while let mark = mark(in: file, at: contents.end) {
            let header = contents.end
            let round = word(in: file, at: header + 4)
            if let current = contents.round, round != current { break }
            guard let whole = entry(in: file, at: header) else {
                contents.isTorn = true
                break
            }
            contents.round = round
            if mark == .waiting { contents.entries.append((header, whole)) }
            contents.end = header + headerLength + whole.sealed.bytes.count
        }
        return contents
    }

    /// The entry that begins there; nil where it is not whole.
    private static func entry(in file: [UInt8], at header: Int) -> JournalEntry? {
        let start = header + headerLength
        let end = start + Int(word(in: file, at: header + 8))
        guard end <= file.count else { return nil }
        let payload = file[start..<end]
        let told = file[(header + 4)..<(header + 28)]
        let digest: [UInt8] = sha256(Array(told) + payload)
        guard digest.elementsEqual(file[(header + 28)..<start]),
            let id = UUIDv7(bytes: Array(file[(header + 12)..<(header + 28)]))
        else { return nil }
        return JournalEntry(id: id, sealed: SealedBytes(Array(payload)))
    }

    private enum Mark { case waiting, settled }

    private static func mark(in file: [UInt8], at offset: Int) -> Mark? {
        guard offset + headerLength <= file.count else { return nil }
        let found = file[offset..<(offset + 4)]
        return found.elementsEqual(waiting) ? .waiting : found.elementsEqual(settled) ? .settled : nil
    }

    private static func word(_ value: UInt32) -> [UInt8] {
        [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    private static func word(in file: [UInt8], at offset: Int) -> UInt32 {
        var value: UInt32 = 0
        for index in 0..<4 { value |= UInt32(file[offset + index]) << (8 * index) }
        return value
    }
}
