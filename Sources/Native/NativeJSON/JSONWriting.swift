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
        // Holds nearly all that the house writes: what is longer is written twice.
        let first = dump(style, capacity: 4096)
        if first.needed <= 4096 { return first.bytes }
        return dump(style, capacity: first.needed).bytes
    }

    private func dump(_ style: JSONStyle, capacity: Int) -> (bytes: [UInt8], needed: Int) {
        var needed = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            unsafe buffer.withMemoryRebound(to: CChar.self) { characters in
                unsafe needed = json_dumpb(
                    node, characters.baseAddress, capacity, Int(style.flags | JSON_ENCODE_ANY))
            }
            count = min(needed, capacity)
        }
        precondition(needed > 0, "a JSON value nests too deeply to be written")
        return (bytes, needed)
    }
}
