// SPDX-License-Identifier: Apache-2.0

/// What keeps one line one line: no text can end it, fake another, or steer a terminal.
enum LineText {
    /// Letters, digits and what stands in identifiers, paths and addresses.
    static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x3A, 0x41...0x5B, 0x5D, 0x5F, 0x61...0x7A: true
        case UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "@"), UInt8(ascii: "+"): true
        case UInt8(ascii: "%"), UInt8(ascii: ","), UInt8(ascii: "*"), UInt8(ascii: "~"): true
        default: false
        }
    }

    /// The text as it stands between the quotation marks of a JSON string, hidden characters escaped too.
    static func quoted(_ text: String) -> [UInt8] {
        var quoted: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x22, 0x5C: quoted += [0x5C, byte]
            case 0x0A: quoted += "\\n".utf8
            case 0x0D: quoted += "\\r".utf8
            case 0x09: quoted += "\\t".utf8
            case 0x00..<0x20: quoted += escape(UInt32(byte))
            default: quoted.append(byte)
            }
        }
        return escapingHidden(in: quoted)
    }

    /// UTF-8 with DEL, the C1 controls, line and paragraph separators and direction marks written as `\u….`.
    static func escapingHidden(in line: [UInt8]) -> [UInt8] {
        guard line.contains(where: { $0 == 0x7F || $0 == 0xC2 || $0 == 0xE2 }) else { return line }
        var escaped: [UInt8] = []
        for scalar in String(decoding: line, as: UTF8.self).unicodeScalars {
            switch scalar.value {
            case 0x7F...0x9F, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: escaped += escape(scalar.value)
            default: escaped += Array(String(scalar).utf8)
            }
        }
        return escaped
    }

    private static func escape(_ scalar: UInt32) -> [UInt8] {
        let digits = String(scalar, radix: 16, uppercase: true)
        return Array(("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8)
    }
}
