// SPDX-License-Identifier: Apache-2.0

/// What is done at the URL.
package enum CurlMethod: Sendable {
    case get
    /// A body as it is; the caller gives its `Content-Type` among the headers, else none is sent.
    case post([UInt8])
    /// A body that is `application/x-www-form-urlencoded` already.
    case postForm([UInt8])
}

/// One request to a provider. Harmless when printed.
package struct CurlRequest: Sendable {
    package var method: CurlMethod
    /// An absolute `https` URL, or `http` to a loopback address; no user name in it.
    package var url: String
    /// Sent in this order as they are; a name or value with a control character refuses the request.
    package var headers: [(name: String, value: String)]
    /// From the call to the end of the TLS handshake.
    package var connectTimeout: Duration
    /// From the call to the last byte of the answer; what has arrived by then is read first.
    package var timeout: Duration
    /// Whether it spends a code or a refresh token: then it leaves once at most, whatever becomes of the connection,
    /// and no connection that was idle for two seconds carries it (libcurl counts whole ones, and allows one).
    package var spends: Bool
    /// HTTP/2 where the server offers it; HTTP/1.1 else (some servers' early answers break POSTs over HTTP/2).
    package var http2: Bool
    /// Which addresses may be dialled; link-local and metadata addresses never are.
    package var addresses: AddressPolicy
    /// Asked on the loop between the handshake and the first byte of the request: false leaves it unsent.
    package var beforeFirstByte: (@Sendable () -> Bool)?

    package init(
        method: CurlMethod, url: String, headers: [(name: String, value: String)], connectTimeout: Duration,
        timeout: Duration, spends: Bool, http2: Bool = false, addresses: AddressPolicy = .any,
        beforeFirstByte: (@Sendable () -> Bool)? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.connectTimeout = connectTimeout
        self.timeout = timeout
        self.spends = spends
        self.http2 = http2
        self.addresses = addresses
        self.beforeFirstByte = beforeFirstByte
    }
}

extension CurlRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "a request to a provider" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension CurlMethod: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String {
        switch self {
        case .get: "GET"
        case .post, .postForm: "POST"
        }
    }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
