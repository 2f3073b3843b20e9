// SPDX-License-Identifier: Apache-2.0

/// The addresses that begin with the same bits, as in `10.0.0.0/8` (RFC 4632, section 3.1), or a single one.
package struct IPNetwork: Sendable, Equatable {
    private let base: IPAddress
    private let length: Int

    /// - Parameter text: an address, or an address, a slash and a number of bits. A network of mapped addresses
    ///   (`::ffff:10.0.0.0/104`) is the IPv4 network inside.
    /// - Returns: nil for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let host = parts.first, let base = IPAddress(String(host)) else { return nil }
        let width = base.bytes.count * 8
        let written = host.contains(":") ? 128 : 32
        self.base = base
        guard parts.count == 2 else {
            length = width
            return
        }
        let digits = parts[1]
        guard (1...3).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let bits = Int(digits), (0...width).contains(bits - (written - width))
        else { return nil }
        length = bits - (written - width)
    }

    package func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == base.bytes.count else { return false }
        let whole = length / 8
        guard address.bytes.prefix(whole) == base.bytes.prefix(whole) else { return false }
        guard length % 8 != 0 else { return true }
        return (address.bytes[whole] ^ base.bytes[whole]) >> (8 - UInt8(length % 8)) == 0
    }
}
