// SPDX-License-Identifier: Apache-2.0
internal import CJansson

/// How a JSON value is written; UTF-8 always, only what must be is escaped.
package enum JSONStyle: Sendable {
    /// No blanks, members in the order they were set.
    case compact
    /// No blanks, members sorted by the bytes of their names: the same bytes for equal values.
    case canonical
    /// As `compact`, numbers with a fraction to 15 digits: as people write them (`0.7`), and each of no more digits comes
    /// back as it was.
    case line
    /// Two blanks a level, members in the order they were set, for people.
    case indented

    fileprivate var flags: Int32 {
        switch self {
        case .compact: JSON_COMPACT
        // JSON_REAL_PRECISION(15), a macro that Swift cannot call.
        case .line: JSON_COMPACT | 15 << 11
        case .canonical: JSON_COMPACT | JSON_SORT_KEYS
        case .indented: 2
        }
    }
}

extension JSONValue {
    /// The bytes of this value. Precondition: not nested deeper than 2,048 levels.
    package func serialized(_ style: JSONStyle) -> [UInt8] {
        // Long enough for nearly all that the house writes: what is longer is written twice.
        var needed = 1536
        var bytes: [UInt8] = []
        repeat {
            bytes = unsafe [UInt8](unsafeUninitializedCapacity: needed) { buffer, count in
                needed = unsafe dump(style, into: UnsafeMutableRawBufferPointer(buffer))
                count = min(needed, buffer.count)
            }
        } while bytes.count < needed
        return bytes
    }

    /// - Returns: how many bytes there are; none is written beyond the buffer.
    private func dump(_ style: JSONStyle, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let characters = unsafe buffer.assumingMemoryBound(to: CChar.self)
        let needed = unsafe json_dumpb(
            node, characters.baseAddress, characters.count, Int(style.flags | JSON_ENCODE_ANY))
        precondition(needed > 0, "a JSON value nests too deeply to be written")
        return needed
    }
}
