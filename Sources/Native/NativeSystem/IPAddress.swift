// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// An IPv4 or IPv6 address without a port. IPv4 inside IPv6 (mapped, NAT64) counts as IPv4.
package struct IPAddress: Sendable, Hashable {
    /// 4 or 16 bytes in network order.
    package let bytes: [UInt8]

    private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
    private static let translated: [UInt8] = [0x00, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]

    /// - Parameter bytes: in network order.
    /// - Returns: nil for anything but 4 or 16 of them.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        let isIPv4Inside =
            bytes.count == 16 && (bytes.starts(with: IPAddress.mapped) || bytes.starts(with: IPAddress.translated))
        self.bytes = isIPv4Inside ? Array(bytes[12...]) : bytes
    }

    /// An address as inet_pton(3) reads it, without brackets, port or zone; nil for a name.
    package init?(_ text: String) {
        guard !text.utf8.contains(0) else { return nil }
        for (family, size) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: size)
            if unsafe inet_pton(family, text, &bytes) == 1 {
                self.init(bytes: bytes)
                return
            }
        }
        return nil
    }

    /// What one customer has at least: the address itself for IPv4, the first address of its /64 for IPv6.
    package var network: IPAddress {
        guard bytes.count == 16 else { return self }
        return IPAddress(bytes: bytes[..<8] + [UInt8](repeating: 0, count: 8)) ?? self
    }

    /// As inet_ntop(3) writes it: `127.0.0.1`, `::1`.
    package var text: String {
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        return unsafe String(unsafeUninitializedCapacity: Int(INET6_ADDRSTRLEN)) { buffer in
            let start = unsafe UnsafeMutableRawPointer(buffer.baseAddress)?.assumingMemoryBound(to: CChar.self)
            guard let start = unsafe start,
                unsafe inet_ntop(family, bytes, start, socklen_t(buffer.count)) != nil
            else { return 0 }
            return unsafe strlen(start)
        }
    }
}
