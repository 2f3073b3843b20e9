// SPDX-License-Identifier: Apache-2.0
internal import CCurl
internal import NativeSystem

/// Where a URL leads, as libcurl's own parser reads it (curl_url(3)), so that nothing is checked that is not dialled.
package struct CurlEndpoint: Sendable {
    /// Lower case, without brackets.
    package let host: String
    package let isPlain: Bool
    /// 1 to 65535.
    let port: String
    /// What tells one server from another: scheme, host and port.
    let origin: String
    /// Nil where the host is a name.
    private let address: IPAddress?

    /// - Returns: nil for what is no URL, or has a user name in it.
    package init?(_ url: String) {
        guard !url.utf8.contains(0), let parts = Self.parse(url, UInt32(CURLU_DISALLOW_USER)) else { return nil }
        let isBracketed = parts.host.hasPrefix("[")
        host = isBracketed ? String(parts.host.dropFirst().dropLast()) : parts.host.lowercased()
        isPlain = parts.scheme == "http"
        port = parts.port
        origin = "\(parts.scheme)://\(host):\(port)"
        address = IPAddress(host)
        guard isPlain || parts.scheme == "https" else { return nil }
    }

    /// Whether a request may be sent there.
    /// - Throws: `plainHTTPRefused`, `addressRefused`.
    func check(_ request: CurlRequest) throws(NotSentReason) {
        if isPlain, host != "localhost", address?.isLoopback != true { throw .plainHTTPRefused }
        if let address, address.isLinkLocalOrMetadata || !request.addresses.allows(address) { throw .addressRefused }
    }

    /// A proxy's URL as scheme, host and port; a fixed sentence for what is none.
    static func withoutUser(_ proxy: String) -> String {
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_GUESS_SCHEME)
        guard !proxy.utf8.contains(0), let parts = parse(proxy, flags, defaultPort: "1080") else {
            return "a proxy whose address is no URL"
        }
        return "\(parts.scheme)://\(parts.host):\(parts.port)"
    }

    private static func parse(
        _ url: String, _ flags: UInt32, defaultPort: String? = nil
    ) -> (scheme: String, host: String, port: String)? {
        guard let handle = unsafe curl_url() else { return nil }
        defer { unsafe curl_url_cleanup(handle) }
        guard unsafe curl_url_set(handle, CURLUPART_URL, url, flags) == CURLUE_OK,
            let scheme = unsafe part(CURLUPART_SCHEME, of: handle), let host = unsafe part(CURLUPART_HOST, of: handle)
        else { return nil }
        // A proxy's port is 1080 unless it is told (CURLOPT_PROXY(3)), and 443 for https.
        let flag = defaultPort == nil || scheme.lowercased() == "https" ? UInt32(CURLU_DEFAULT_PORT) : 0
        guard let port = unsafe part(CURLUPART_PORT, of: handle, flag) ?? defaultPort else { return nil }
        return (scheme.lowercased(), host, port)
    }

    private static func part(
        _ part: CURLUPart, of handle: OpaquePointer, _ flags: UInt32 = 0
    ) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard unsafe curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text = unsafe text else { return nil }
        defer { unsafe curl_free(text) }
        return unsafe String(cString: text)
    }
}
