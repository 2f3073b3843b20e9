// SPDX-License-Identifier: Apache-2.0

/// The names and values of `application/x-www-form-urlencoded` text (WHATWG URL, section 5.1).
package struct FormPairs: Sendable {
    private let pairs: [(name: String, value: String)]

    package init(_ bytes: [UInt8]) {
        pairs = bytes.split(separator: UInt8(ascii: "&")).map { part in
            let name = part.prefix { $0 != UInt8(ascii: "=") }
            return (Self.decode(name), Self.decode(part.dropFirst(name.count + 1)))
        }
    }

    /// The first value of that name.
    package subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }

    /// `+` as a blank and `%XX` as a byte; what is no escape stays as it is.
    static func decode(_ bytes: ArraySlice<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "%"), index + 1 < bytes.endIndex, let high = digit(bytes[index]),
                let low = digit(bytes[index + 1])
            {
                text.append(high << 4 | low)
                index += 2
            } else {
                text.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    package static func decode(_ text: some StringProtocol) -> String { decode(Array(text.utf8)[...]) }

    /// The text with everything but letters, digits and `-._*` as an escape.
    package static func encode(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "*"):
                encoded.append(byte)
            default: encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
