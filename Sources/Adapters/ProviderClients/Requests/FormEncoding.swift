// SPDX-License-Identifier: Apache-2.0
import NativeSystem

/// `application/x-www-form-urlencoded` over bytes (WHATWG URL Standard, section 5).
enum FormEncoding {
    /// A blank is `+`, `A-Za-z0-9*-._` stay, every other byte is `%XX` in upper case.
    static func encode(_ text: String) -> [UInt8] {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(text.utf8.count)
        append(text, to: &encoded)
        return encoded
    }

    static func append(_ text: String, to encoded: inout [UInt8]) {
        let bytes = text.utf8.span
        // As most names and values are.
        if bytes.allSatisfy(stays) { return encoded.append(text: text) }
        for index in bytes.indices {
            let byte = bytes[index]
            if byte == 0x20 {
                encoded.append(0x2B)
            } else if stays(byte) {
                encoded.append(byte)
            } else {
                encoded.append(0x25)
                encoded.append(upperDigit(byte >> 4))
                encoded.append(upperDigit(byte & 15))
            }
        }
    }

    private static func stays(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }

    /// The pairs of a body in their order; a bad escape stays as it is, bad UTF-8 is repaired.
    static func decode(_ bytes: some Collection<UInt8>) -> [(name: String, value: String)] {
        bytes.split(separator: 0x26).map { pair in
            let equals = pair.firstIndex(of: 0x3D)
            let name = pair[..<(equals ?? pair.endIndex)]
            let value = equals.map { pair[pair.index(after: $0)...] } ?? pair[pair.endIndex...]
            return (text(of: Array(name)), text(of: Array(value)))
        }
    }

    private static func text(of encoded: [UInt8]) -> String {
        var bytes: [UInt8] = []
        var position = 0
        while position < encoded.count {
            let byte = encoded[position]
            if byte == 0x25, position + 2 < encoded.count, let high = value(of: encoded[position + 1]),
                let low = value(of: encoded[position + 2])
            {
                bytes.append(high << 4 | low)
                position += 3
            } else {
                bytes.append(byte == 0x2B ? 0x20 : byte)
                position += 1
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func upperDigit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x37
        case 0x61...0x66: digit - 0x57
        default: nil
        }
    }
}
