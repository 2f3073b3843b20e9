// SPDX-License-Identifier: Apache-2.0
/// Lower-case hexadecimal, as identifiers and digests are written.
package enum Hexadecimal {
    package static func text(of bytes: some Sequence<UInt8>) -> String { text(of: Array(bytes)) }

    /// Two digits a byte.
    package static func text(of bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(2 * bytes.count)
        for byte in bytes {
            text.append(digit(byte >> 4))
            text.append(digit(byte & 15))
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Of two words, most significant first: 32 digits.
    package static func text(of high: UInt64, _ low: UInt64) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(32)
        append(high, to: &text)
        append(low, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    private static func append(_ word: UInt64, to text: inout [UInt8]) {
        var rest = word
        for _ in 0..<16 {
            text.append(digit(UInt8(truncatingIfNeeded: rest >> 60)))
            rest <<= 4
        }
    }

    /// Of a number below 16.
    private static func digit(_ value: UInt8) -> UInt8 { value &+ (value < 10 ? 0x30 : 0x57) }

    /// The bytes that the digits spell; nil for an odd count or anything but `0-9a-f`.
    package static func bytes(of text: some StringProtocol) -> [UInt8]? {
        let digits = text.utf8.map { digit -> UInt8? in
            switch digit {
            case 0x30...0x39: digit - 0x30
            case 0x61...0x66: digit - 0x61 + 10
            default: nil
            }
        }
        guard digits.count.isMultiple(of: 2), !digits.contains(nil) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { (digits[$0] ?? 0) << 4 | (digits[$0 + 1] ?? 0) }
    }
}
