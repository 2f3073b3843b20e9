// SPDX-License-Identifier: Apache-2.0
package import NativeHTTPServer
package import NativeSystem

/// The proxies in front of the gateway (`server.trusted_proxies`), whose word for whom they speak is taken.
package struct TrustedProxies: Sendable {
    private let networks: [IPNetwork]

    package init(_ networks: [IPNetwork]) { self.networks = networks }

    /// Nobody's word is taken: the peer is who holds the connection.
    package static let none = TrustedProxies([])

    /// Who sent a request: the other end of the connection, or, where that is a trusted proxy, the right-most address of
    /// `X-Forwarded-For` that is none. Each proxy adds on the right whom it heard, so that what stands further left
    /// is anybody's word. Where an entry is no address the last proxy before it is the answer.
    ///
    /// - Returns: nil where the connection is neither IPv4 nor IPv6.
    package func peer(of head: HTTPRequestHead) -> IPAddress? {
        guard var peer = IPAddress(bytes: head.peer.bytes) else { return nil }
        guard !networks.isEmpty, trusts(peer) else { return peer }
        for line in head.headers.all("X-Forwarded-For").reversed() {
            var rest = line
            while true {
                let comma = rest.lastIndex(of: UInt8(ascii: ","))
                guard let address = TrustedProxies.address(rest[(comma.map { $0 + 1 } ?? rest.startIndex)...]) else {
                    return peer
                }
                peer = address
                guard trusts(peer) else { return peer }
                guard let comma else { break }
                rest = rest[..<comma]
            }
        }
        return peer
    }

    private func trusts(_ address: IPAddress) -> Bool { networks.contains { $0.contains(address) } }

    /// An entry: an address, which some proxies write with the port that it spoke from (`192.0.2.1:4711`,
    /// `[2001:db8::1]:4711`).
    private static func address(_ entry: ArraySlice<UInt8>) -> IPAddress? {
        let blanks: [UInt8] = [0x20, 0x09]
        let bytes = entry.drop { blanks.contains($0) }.prefix { !blanks.contains($0) }
        guard entry.suffix(from: bytes.endIndex).allSatisfy(blanks.contains),
            let text = String(validating: bytes, as: UTF8.self)
        else { return nil }
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            return isPort(text[text.index(after: end)...]) ? IPAddress(String(text[..<end].dropFirst())) : nil
        }
        guard let colon = text.firstIndex(of: ":"), text.lastIndex(of: ":") == colon else { return IPAddress(text) }
        return isPort(text[colon...]) ? IPAddress(String(text[..<colon])) : nil
    }

    /// Nothing, or a colon and up to five digits.
    private static func isPort(_ text: Substring) -> Bool {
        text.isEmpty
            || text.first == ":" && (2...6).contains(text.utf8.count)
                && text.utf8.dropFirst().allSatisfy { (0x30...0x39).contains($0) }
    }
}
