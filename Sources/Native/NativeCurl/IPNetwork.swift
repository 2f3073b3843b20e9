// SPDX-License-Identifier: Apache-2.0

/// The addresses that begin with the same bits, as in `10.0.0.0/8` (RFC 4632, section 3.1).
struct IPNetwork: Sendable {
    private let base: IPAddress
    private let length: Int

    /// - Returns: nil for anything but an address, a slash and a number of bits that the address has.
    init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let base = IPAddress(String(parts[0])), let length = Int(parts[1]),
            (0...base.bytes.count * 8).contains(length)
        else { return nil }
        self.base = base
        self.length = length
    }

    func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == base.bytes.count else { return false }
        return (0..<length).allSatisfy { bit in
            let mask = UInt8(0x80) >> (bit % 8)
            return address.bytes[bit / 8] & mask == base.bytes[bit / 8] & mask
        }
    }
}
