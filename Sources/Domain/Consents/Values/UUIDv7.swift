// SPDX-License-Identifier: Apache-2.0
/// A time-ordered identifier of 128 bits (RFC 9562, section 5.7).
///
/// Kept as two words so that comparing, hashing and copying cost nothing; the store keeps the 16 bytes.
package struct UUIDv7: Hashable, Comparable, Sendable {
    package let high: UInt64
    package let low: UInt64

    /// - Parameters:
    ///   - milliseconds: milliseconds since 1970, of which 48 bits are kept.
    ///   - random: 128 random bits, of which 74 are kept.
    package init(milliseconds: UInt64, random: (UInt64, UInt64)) {
        high = (milliseconds << 16) | 0x7000 | (random.0 & 0x0FFF)
        low = (random.1 & 0x3FFF_FFFF_FFFF_FFFF) | 0x8000_0000_0000_0000
    }

    /// The identifier that 16 bytes hold, most significant first; nil for another length.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The identifier that 32 lower-case hexadecimal digits spell; nil for anything else.
    package init?(hexadecimal text: Substring) {
        guard let bytes = Hexadecimal.bytes(of: text) else { return nil }
        self.init(bytes: bytes)
    }

    /// 16 bytes, most significant first.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: high >> shift)) }
        for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: low >> shift)) }
        return bytes
    }

    package var hexadecimal: String { Hexadecimal.text(of: high, low) }

    package static func < (left: UUIDv7, right: UUIDv7) -> Bool {
        left.high != right.high ? left.high < right.high : left.low < right.low
    }
}
