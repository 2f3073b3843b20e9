// SPDX-License-Identifier: Apache-2.0
internal import NativeSystem

/// What all requests of one client have in common.
package struct CurlConfiguration: Sendable {
    /// A proxy's URL; nil for none. The environment is never looked at.
    package var proxy: String?
    /// Hosts that are dialled without the proxy: a name with everything under it, an address, a network such as
    /// `10.0.0.0/8` (for hosts that are written as addresses), or `*`; a name or address may end in `:PORT`.
    package var noProxy: [String]
    /// A PEM file of certificates that are trusted beside the system's.
    package var caFile: String?
    /// Shown to servers that ask for a certificate; nil for none.
    package var identity: CurlClientIdentity?
    /// The hashed folder that is the system's, for tests; nil: the one that libcurl names.
    var systemCertificates: String?
    /// Of an answer, in bytes, once decoded.
    package var bodyLimit: Int
    /// Of an answer's head, in bytes.
    package var headLimit: Int
    /// Calls under way at a time.
    package var calls: Int
    /// How many connections are kept, those in use among them, and for how long idle ones are. As many as there may be
    /// calls: with fewer, each call beyond them ends a connection that the next one has to open again.
    package var idleConnections: Int
    package var idleTime: Duration
    /// How old a connection may become before it is not used again: a changed DNS record is followed by then.
    package var connectionAge: Duration

    package init(
        proxy: String? = nil, noProxy: [String] = [], caFile: String? = nil, identity: CurlClientIdentity? = nil,
        bodyLimit: Int = 1 << 20, headLimit: Int = 64 << 10, calls: Int = 4096, idleConnections: Int = 4096,
        idleTime: Duration = .seconds(30), connectionAge: Duration = .seconds(240)
    ) {
        self.proxy = proxy
        self.noProxy = noProxy
        self.caFile = caFile
        self.identity = identity
        self.bodyLimit = bodyLimit
        self.headLimit = headLimit
        self.calls = calls
        self.idleConnections = idleConnections
        self.idleTime = idleTime
        self.connectionAge = connectionAge
    }

    /// The proxy through which that URL is asked, as scheme, host and port, without the name and password it may have;
    /// nil where it is asked directly.
    package func proxyShown(for url: String) -> String? {
        guard let endpoint = CurlEndpoint(url), !endpoint.isPlain,
            let proxy = proxy(for: endpoint.host, port: endpoint.port)
        else { return nil }
        return CurlEndpoint.withoutUser(proxy)
    }

    /// A proxy's URL as scheme, host and port; a fixed sentence for what is none.
    package static func withoutUser(_ proxy: String) -> String { CurlEndpoint.withoutUser(proxy) }

    /// The proxy for that host, in lower case; nil where it is dialled directly.
    /// - Parameter port: in decimal digits.
    func proxy(for host: String, port: String) -> String? {
        guard let proxy, !proxy.isEmpty else { return nil }
        let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        let isDirect = noProxy.contains { ProxyException($0).covers(bare, port) }
        return isDirect ? nil : proxy
    }
}

/// One entry of `no_proxy`.
struct ProxyException {
    private let host: String
    /// Nil: any.
    private let port: String?

    init(_ entry: String) {
        let text = entry.lowercased()
        if let colon = text.lastIndex(of: ":"), IPAddress(text) == nil, IPNetwork(text) == nil,
            !text[text.index(after: colon)...].isEmpty, text[text.index(after: colon)...].allSatisfy(\.isNumber)
        {
            port = String(text[text.index(after: colon)...])
            host = ProxyException.withoutBrackets(String(text[..<colon]))
        } else {
            port = nil
            host = ProxyException.withoutBrackets(text)
        }
    }

    /// - Parameter name: in lower case, without brackets.
    func covers(_ name: String, _ port: String) -> Bool {
        if let wanted = self.port, wanted != port { return false }
        if host == "*" { return true }
        if let address = IPAddress(name), let network = IPNetwork(host) { return network.contains(address) }
        let domain = host.hasPrefix(".") ? String(host.dropFirst()) : host
        return name == domain || !domain.isEmpty && name.hasSuffix("." + domain)
    }

    private static func withoutBrackets(_ text: String) -> String {
        text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
    }
}
