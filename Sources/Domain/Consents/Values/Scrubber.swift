// SPDX-License-Identifier: Apache-2.0
/// What makes a provider's text harmless before it is shown, logged or kept (contract, section 2).
///
/// It cuts the text to 200 Unicode scalars and takes out control and format characters and every value that we sent:
/// in clear, percent- or form-encoded in part or whole, and inside base64 of either alphabet at each of the three
/// alignments. Where a value's beginning stands alone it counts as the value, from 16 bytes on, of a shorter value from
/// three quarters: providers abridge. Percent signs may have been encoded again, solidi escaped, a plus read as a blank.
/// A value under 4 bytes would be found in ordinary words; it is taken out where it stands as a word of its own.
package struct Scrubber: Sendable {
    package static let longest = 200
    private let patterns: [Pattern]

    /// - Parameter secrets: every value of the request that may not come back; empty ones are skipped.
    package init(_ secrets: some Sequence<SecretText>) {
        patterns = secrets.flatMap { Pattern.all(of: Array(Scrubber.visible($0.reveal()).utf8)) }
    }

    /// The text as it may be shown, `***` in the place of each value.
    package func clean(_ text: String) -> String {
        let bytes = Array(Scrubber.visible(text.unicodeScalars.prefix(8192)).utf8)
        var output: [UInt8] = []
        var position = 0
        while position < bytes.count, output.count <= 4 * Scrubber.longest {
            if let length = patterns.compactMap({ $0.match(in: bytes, at: position) }).max() {
                output += "***".utf8
                position += length
            } else {
                output.append(bytes[position])
                position += 1
            }
        }
        return String(String(decoding: output, as: UTF8.self).unicodeScalars.prefix(Scrubber.longest))
    }

    /// Nil stays nil.
    package func clean(_ text: String?) -> String? { text.map { clean($0) as String } }

    private static func visible(_ text: String) -> String { visible(text.unicodeScalars) }

    private static func visible(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var kept = String.UnicodeScalarView()
        for scalar in scalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: continue
            default: kept.append(scalar)
            }
        }
        return String(kept)
    }
}

/// One spelling of a value, to be found at a place of a text.
private struct Pattern: Sendable {
    let bytes: [UInt8]
    let isWordOnly: Bool

    /// A beginning of that many bytes counts as the whole.
    private var abridged: Int { min(16, max(4, bytes.count * 3 / 4)) }

    static func all(of value: [UInt8]) -> [Pattern] {
        if value.isEmpty { return [] }
        if value.count < 4 { return [Pattern(bytes: value, isWordOnly: true)] }
        let encoded = (0...2).flatMap { offset in
            [base64(value, offset: offset, "+/"), base64(value, offset: offset, "-_")]
        }
        return [Pattern(bytes: value, isWordOnly: false)] + encoded.map { Pattern(bytes: $0, isWordOnly: false) }
    }

    /// How many bytes of the text at that place spell the value; nil for none.
    func match(in text: [UInt8], at start: Int) -> Int? {
        let found = [spelled(in: text, at: start, isDecoding: true), spelled(in: text, at: start, isDecoding: false)]
        guard let length = found.compactMap({ $0 }).max() else { return nil }
        guard isWordOnly else { return length }
        let isFree =
            (start == 0 || !Self.isWord(text[start - 1]))
            && (start + length == text.count || !Self.isWord(text[start + length]))
        return isFree ? length : nil
    }

    /// - Parameter isDecoding: whether `%41` stands for `A` and `+` for a blank, else only for themselves.
    private func spelled(in text: [UInt8], at start: Int, isDecoding: Bool) -> Int? {
        var position = start
        for (index, byte) in bytes.enumerated() {
            if isDecoding, let length = Self.escaped(byte, in: text, at: position) {
                position += length
            } else if position < text.count, text[position] == byte || isDecoding && Self.isBlank(text[position], byte)
            {
                position += 1
            } else {
                return index >= abridged ? position - start : nil
            }
        }
        return position - start
    }

    /// How long the byte's escape there is: `%41`, the same encoded again and again (`%2541`), `\/` and its like.
    private static func escaped(_ byte: UInt8, in text: [UInt8], at position: Int) -> Int? {
        guard position + 1 < text.count else { return nil }
        if text[position] == UInt8(ascii: "\\") { return text[position + 1] == byte ? 2 : nil }
        guard text[position] == UInt8(ascii: "%") else { return nil }
        var digits = position + 1
        while digits + 1 < text.count, let high = digit(text[digits]), let low = digit(text[digits + 1]) {
            let found = high << 4 | low
            if found == byte { return digits + 2 - position }
            guard found == UInt8(ascii: "%") else { return nil }
            digits += 2
        }
        return nil
    }

    /// Whether one is a plus and the other a blank, as a form has it.
    private static func isBlank(_ found: UInt8, _ sought: UInt8) -> Bool {
        let pair = (found, sought)
        return pair == (UInt8(ascii: "+"), 0x20) || pair == (0x20, UInt8(ascii: "+"))
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x80...0xFF: true
        default: false
        }
    }

    /// The characters that the value alone decides where it begins `offset` bytes into a group of three (RFC 4648).
    /// For finding a value, not for coding one: what is coded goes through OpenSSL.
    private static func base64(_ value: [UInt8], offset: Int, _ last: String) -> [UInt8] {
        let alphabet = Array(("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + last).utf8)
        let stream = [UInt8](repeating: 0, count: offset) + value
        return ((8 * offset + 5) / 6..<8 * stream.count / 6).map { character in
            let (byte, bit) = (6 * character / 8, 6 * character % 8)
            let pair = UInt16(stream[byte]) << 8 | (byte + 1 < stream.count ? UInt16(stream[byte + 1]) : 0)
            return alphabet[Int(pair >> (10 - bit) & 63)]
        }
    }
}
