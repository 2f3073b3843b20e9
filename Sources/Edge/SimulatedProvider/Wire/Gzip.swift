// SPDX-License-Identifier: Apache-2.0

/// The gzip format (RFC 1952) around deflate (RFC 1951), as far as a simulation needs it.
enum Gzip {
    /// The bytes in stored blocks: nothing is gained, and every reader must be able to read it.
    static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var deflated: [UInt8] = []
        var rest = bytes[...]
        repeat {
            let part = rest.prefix(65_535)
            rest = rest.dropFirst(part.count)
            let size = UInt16(part.count)
            deflated += [rest.isEmpty ? 1 : 0] + littleEndian(size) + littleEndian(~size) + part
        } while !rest.isEmpty
        return wrapped(deflated, checksum: checksum(bytes), size: UInt32(truncatingIfNeeded: bytes.count))
    }

    /// So many blanks behind a `{`, each 258 of them in 13 bits: fixed codes, a match of length 258 at distance 1.
    static func blanks(_ count: Int) -> [UInt8] {
        var bits = BitText()
        bits.append(0b011, count: 3)  // the last block, fixed codes
        bits.appendCode(0x30 + 0x7B, count: 8)
        bits.appendCode(0x30 + 0x20, count: 8)
        for _ in 0..<(count / 258) {
            bits.appendCode(0b1100_0101, count: 8)
            bits.appendCode(0, count: 5)
        }
        bits.appendCode(0, count: 7)
        // No reader gets as far as the checksum.
        return wrapped(bits.bytes, checksum: 0, size: UInt32(truncatingIfNeeded: count))
    }

    private static func wrapped(_ deflated: [UInt8], checksum: UInt32, size: UInt32) -> [UInt8] {
        [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255] + deflated + littleEndian(checksum) + littleEndian(size)
    }

    /// CRC-32 as gzip has it (RFC 1952 section 8).
    static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum = UInt32.max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return ~sum
    }

    private static func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        (0..<(number.bitWidth / 8)).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}

/// Bits as deflate packs them: the first is the lowest of the first byte.
private struct BitText {
    private(set) var bytes: [UInt8] = []
    private var used = 8

    /// A number, its lowest bit first.
    mutating func append(_ number: Int, count: Int) {
        for index in 0..<count {
            if used == 8 {
                bytes.append(0)
                used = 0
            }
            bytes[bytes.count - 1] |= UInt8(number >> index & 1) << UInt8(used)
            used += 1
        }
    }

    /// A code, its highest bit first.
    mutating func appendCode(_ code: Int, count: Int) {
        for index in stride(from: count - 1, through: 0, by: -1) { append(code >> index & 1, count: 1) }
    }
}
