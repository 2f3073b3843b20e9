// SPDX-License-Identifier: Apache-2.0
internal import Consents

/// JSON as it is put together, byte by byte as `JSONStyle.canonical` writes it: of the strings, only what must be is
/// escaped.
struct CanonicalText {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(512) }

    /// Punctuation and names that need no escaping.
    mutating func put(_ plain: String) {
        bytes.append(contentsOf: plain.utf8)
    }

    mutating func put(_ plain: String, _ number: Int64) {
        put(plain)
        bytes.append(contentsOf: String(number).utf8)
    }

    mutating func put(_ plain: String, _ string: String) {
        put(plain)
        bytes.append(UInt8(ascii: "\""))
        if string.utf8.contains(where: CanonicalText.isEscaped) {
            for byte in string.utf8 { putEscaped(byte) }
        } else {
            bytes.append(contentsOf: string.utf8)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func putEscaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
        case 0x08: put("\\b")
        case 0x09: put("\\t")
        case 0x0A: put("\\n")
        case 0x0C: put("\\f")
        case 0x0D: put("\\r")
        case ..<0x20:
            put("\\u00")
            let digits = Hexadecimal.text(of: [byte])
            bytes.append(contentsOf: digits.uppercased().utf8)
        default: bytes.append(byte)
        }
    }
}
