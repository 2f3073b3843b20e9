// SPDX-License-Identifier: Apache-2.0
internal import COpenSSL

/// The two alphabets of base64 (RFC 4648, sections 4 and 5).
package enum Base64: Sendable {
    /// `+` and `/`, padded with `=`.
    case standard
    /// `-` and `_`, without padding, as in JOSE and PKCE.
    case urlSafe

    /// The text of those bytes, on one line.
    package func text(of bytes: [UInt8]) -> String {
        let capacity = (bytes.count + 2) / 3 * 4 + 1
        var text = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, filled in
            unsafe filled = Int(EVP_EncodeBlock(buffer.baseAddress, bytes, Int32(bytes.count)))
        }
        if self == .urlSafe {
            while text.last == UInt8(ascii: "=") { text.removeLast() }
            for index in text.indices { text[index] = Self.urlSafe(text[index]) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes that a text stands for; nil for a character of the other alphabet, a blank, a missing or superfluous
    /// padding, and for bits left over that are not 0: each value has one text only.
    package func bytes(of text: String) -> [UInt8]? {
        var characters = Array(text.utf8)
        let padding = characters.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        if self == .urlSafe {
            guard padding == 0 else { return nil }
            for index in characters.indices {
                guard let character = Self.standard(characters[index]) else { return nil }
                characters[index] = character
            }
            while !characters.count.isMultiple(of: 4) { characters.append(UInt8(ascii: "=")) }
        }
        guard characters.count.isMultiple(of: 4) else { return nil }
        let fill = characters.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard fill <= 2, let bytes = Self.decoded(characters, dropping: fill) else { return nil }
        return self.text(of: bytes).utf8.elementsEqual(text.utf8) ? bytes : nil
    }

    private static func decoded(_ characters: [UInt8], dropping fill: Int) -> [UInt8]? {
        var isValid = true
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: characters.count / 4 * 3 + 1) { buffer, filled in
            let count = unsafe EVP_DecodeBlock(buffer.baseAddress, characters, Int32(characters.count))
            isValid = count >= 0
            filled = max(0, Int(count) - fill)
        }
        return isValid ? bytes : nil
    }

    private static func urlSafe(_ character: UInt8) -> UInt8 {
        switch character {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: character
        }
    }

    private static func standard(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "-"): UInt8(ascii: "+")
        case UInt8(ascii: "_"): UInt8(ascii: "/")
        case UInt8(ascii: "+"), UInt8(ascii: "/"): nil
        default: character
        }
    }
}
