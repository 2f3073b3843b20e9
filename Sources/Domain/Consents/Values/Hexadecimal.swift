// SPDX-License-Identifier: Apache-2.0
/// Lower-case hexadecimal, as identifiers and digests are written.
package enum Hexadecimal {
    package static func text(of bytes: some Sequence<UInt8>) -> String { text(of: Array(bytes)) }

    /// Two digits a byte.
    package static func text(of bytes: [UInt8]) -> String {
        var text = [UInt8](repeating: 0, count: 2 * bytes.count)
        var digits = text.mutableSpan
        for (index, byte) in bytes.enumerated() {
            digits[2 * index] = digit(byte >> 4)
            digits[2 * index + 1] = digit(byte & 15)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Of two words, most significant first: 32 digits.
    package static func text(of high: UInt64, _ low: UInt64) -> String {
        var digits = InlineArray<32, UInt8>(repeating: 0)
        write(high, low, from: 0, into: &digits)
        return String(ascii: digits.span)
    }

    /// Writes 32 digits into a text's place.
    static func write<let room: Int>(
        _ high: UInt64, _ low: UInt64, from start: Int, into text: inout InlineArray<room, UInt8>
    ) {
        for index in 0..<16 {
            let shift = UInt64(60 - 4 * index)
            text[start + index] = digit(UInt8(truncatingIfNeeded: high >> shift) & 15)
            text[start + 16 + index] = digit(UInt8(truncatingIfNeeded: low >> shift) & 15)
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

extension String {
    /// The text that bytes below 128 spell, put together where no array has to be made.
    init(ascii bytes: Span<UInt8>) {
        do { self.init(copying: try UTF8Span(validating: bytes)) } catch {
            preconditionFailure("bytes that are not ASCII")
        }
    }
}
