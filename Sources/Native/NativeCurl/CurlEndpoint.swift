// SPDX-License-Identifier: Apache-2.0
internal import CCurl
internal import NativeSystem

/// Where a URL leads, as libcurl's own parser reads it (curl_url(3)), so that nothing is checked that is not dialled.
struct CurlEndpoint {
    /// Lower case, without brackets.
    let host: String
    let isPlain: Bool
    /// 1 to 65535.
    let port: String

    /// What tells one server from another: scheme, host and port.
    var origin: String { "\(isPlain ? "http" : "https")://\(host):\(port)" }

    /// - Throws: `badURL`, `plainHTTPRefused`, `addressRefused`.
    static func checked(_ request: CurlRequest) throws(NotSentReason) -> CurlEndpoint {
        guard !request.url.utf8.contains(0), let parts = parse(request.url) else { throw .badURL }
        let host = parts.host.hasPrefix("[") ? String(parts.host.dropFirst().dropLast()) : parts.host.lowercased()
        guard parts.scheme == "https" || parts.scheme == "http" else { throw .badURL }
        let address = IPAddress(host)
        if parts.scheme == "http", host != "localhost", address?.isLoopback != true { throw .plainHTTPRefused }
        if let address, address.isLinkLocalOrMetadata || !request.addresses.allows(address) { throw .addressRefused }
        return CurlEndpoint(host: host, isPlain: parts.scheme == "http", port: parts.port)
    }

    private static func parse(_ url: String) -> (scheme: String, host: String, port: String)? {
        guard let handle = unsafe curl_url() else { return nil }
        defer { unsafe curl_url_cleanup(handle) }
        guard unsafe curl_url_set(handle, CURLUPART_URL, url, UInt32(CURLU_DISALLOW_USER)) == CURLUE_OK,
            let scheme = unsafe part(CURLUPART_SCHEME, of: handle), let host = unsafe part(CURLUPART_HOST, of: handle),
            let port = unsafe part(CURLUPART_PORT, of: handle)
        else { return nil }
        return (scheme.lowercased(), host, port)
    }

    private static func part(_ part: CURLUPart, of handle: OpaquePointer) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard unsafe curl_url_get(handle, part, &text, UInt32(CURLU_DEFAULT_PORT)) == CURLUE_OK, let text = unsafe text
        else { return nil }
        defer { unsafe curl_free(text) }
        return unsafe String(cString: text)
    }
}
