// SPDX-License-Identifier: Apache-2.0
internal import CCurl
internal import Glibc
package import NativeSystem

extension IPAddress {
    /// What libcurl is about to dial; nil for a family that is neither IPv4 nor IPv6.
    init?(dialled: UnsafePointer<curl_sockaddr>) {
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return nil }
        let address = unsafe UnsafeRawPointer(dialled) + offset
        switch unsafe dialled.pointee.family {
        case AF_INET:
            let number = unsafe address.loadUnaligned(as: sockaddr_in.self).sin_addr
            self.init(bytes: unsafe withUnsafeBytes(of: number) { unsafe Array($0) })
        case AF_INET6:
            let number = unsafe address.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            self.init(bytes: unsafe withUnsafeBytes(of: number) { unsafe Array($0) })
        default: return nil
        }
    }

    package var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    }

    /// Link-local (169.254.0.0/16, fe80::/10) or where clouds keep their machines' secrets: never dialled.
    package var isLinkLocalOrMetadata: Bool {
        if bytes.count == 4 {
            // Alibaba's, Oracle's, Azure's.
            let others: [[UInt8]] = [[100, 100, 100, 200], [192, 0, 0, 192], [168, 63, 129, 16]]
            return bytes.starts(with: [169, 254]) || others.contains(bytes)
        }
        let amazon: [UInt8] = [0xFD, 0x00, 0x0E, 0xC2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54]
        let google: [UInt8] = [0xFD, 0x20, 0x00, 0xCE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54]
        return bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80 || bytes == amazon || bytes == google
    }

    /// Whether it is globally reachable by IANA's registries of special-purpose addresses.
    package var isPublic: Bool { bytes.count == 4 ? isPublicIPv4 : isPublicIPv6 }

    private var isPublicIPv4: Bool {
        switch (bytes[0], bytes[1], bytes[2]) {
        case (0, _, _), (10, _, _), (127, _, _), (169, 254, _), (172, 16...31, _), (192, 168, _): false
        case (100, 64...127, _), (192, 0, 0), (192, 0, 2), (198, 18...19, _), (198, 51, 100), (203, 0, 113): false
        case (192, 88, 99), (224..., _, _): false
        default: true
        }
    }

    /// 2000::/3 less documentation (2001:db8::/32, 3fff::/20), 2001::/23 and 6to4 (2002::/16).
    private var isPublicIPv6: Bool {
        guard bytes[0] & 0xE0 == 0x20 else { return false }
        switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
        case (0x20, 0x01, 0x0D, 0xB8), (0x20, 0x01, 0...1, _), (0x20, 0x02, _, _), (0x3F, 0xFF, 0...0x0F, _):
            return false
        default: return true
        }
    }
}

/// Which addresses a request may be sent to, asked for each address that is dialled.
package struct AddressPolicy: Sendable {
    package let allows: @Sendable (IPAddress) -> Bool
    /// Whether nobody has to be asked.
    let allowsAll: Bool

    package init(allows: @escaping @Sendable (IPAddress) -> Bool) { self.init(allowsAll: false, allows) }

    private init(allowsAll: Bool, _ allows: @escaping @Sendable (IPAddress) -> Bool) {
        self.allows = allows
        self.allowsAll = allowsAll
    }

    /// Every address, for hosts that stand in the configuration.
    package static let any = AddressPolicy(allowsAll: true) { _ in true }
    /// Public addresses, for URLs that a provider told us.
    package static let publicOnly = AddressPolicy(allows: \.isPublic)
}
