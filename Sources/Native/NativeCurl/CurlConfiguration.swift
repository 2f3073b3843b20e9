// SPDX-License-Identifier: Apache-2.0
internal import NativeSystem

/// What all requests of one client have in common.
package struct CurlConfiguration: Sendable {
    /// A proxy's URL; nil for none. The environment is never looked at.
    package var proxy: String?
    /// Hosts that are dialled without the proxy: a name with everything under it, an address, a network such as
    /// `10.0.0.0/8` (for hosts that are written as addresses), or `*`.
    package var noProxy: [String]
    /// A PEM file of certificates that are trusted beside the system's.
    package var caFile: String?
    /// Of an answer, in bytes, once decoded.
    package var bodyLimit: Int
    /// Of an answer's head, in bytes.
    package var headLimit: Int
    /// Calls under way at a time.
    package var calls: Int
    /// How many idle connections are kept, and for how long at most.
    package var idleConnections: Int
    package var idleTime: Duration
    /// How old a connection may become before it is not used again: a changed DNS record is followed by then.
    package var connectionAge: Duration

    package init(
        proxy: String? = nil, noProxy: [String] = [], caFile: String? = nil, bodyLimit: Int = 1 << 20,
        headLimit: Int = 64 << 10, calls: Int = 4096, idleConnections: Int = 128, idleTime: Duration = .seconds(30),
        connectionAge: Duration = .seconds(240)
    ) {
        self.proxy = proxy
        self.noProxy = noProxy
        self.caFile = caFile
        self.bodyLimit = bodyLimit
        self.headLimit = headLimit
        self.calls = calls
        self.idleConnections = idleConnections
        self.idleTime = idleTime
        self.connectionAge = connectionAge
    }

    /// The proxy for that host, in lower case; nil where it is dialled directly.
    func proxy(for host: String) -> String? {
        guard let proxy, !proxy.isEmpty else { return nil }
        let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        let address = IPAddress(bare)
        let isDirect = noProxy.contains { entry in
            if let address, let network = IPNetwork(entry) { return network.contains(address) }
            let name = (entry.hasPrefix(".") ? String(entry.dropFirst()) : entry).lowercased()
            return entry == "*" || bare == name || !name.isEmpty && bare.hasSuffix("." + name)
        }
        return isDirect ? nil : proxy
    }
}
