// SPDX-License-Identifier: Apache-2.0
package import NativeSystem

/// The address that a connection comes from.
package struct PeerAddress: Sendable, Hashable {
    /// As inet_ntop(3) writes it: `127.0.0.1`, `::1`.
    package let text: String
    /// 4 bytes for IPv4, 16 for IPv6, in network order.
    package let bytes: [UInt8]
    package let port: UInt16

    package init(text: String, bytes: [UInt8], port: UInt16) {
        self.text = text
        self.bytes = bytes
        self.port = port
    }
}

/// A request without its body: everything that is known before a byte of the body was read.
package struct HTTPRequestHead: Sendable {
    /// What the head says about the body (RFC 9112, section 6).
    package enum BodyLength: Sendable, Equatable {
        case none
        case bytes(Int)
        case chunked
    }

    package let method: String
    /// The path as it came, nothing unescaped; begins with `/`, or is `*`.
    package let rawPath: [UInt8]
    /// What stands behind the first `?`, as it came; nil where there is none.
    package let rawQuery: [UInt8]?
    package let headers: HTTPHeaders
    package let bodyLength: BodyLength
    package let peer: PeerAddress
    /// False for HTTP/1.0.
    package let isHTTP11: Bool
    /// When the head was complete.
    package let receivedAt: MonotonicInstant
    /// What the handler found out when it let the request in, so that it need not do so again; nil before.
    package var admission: (any AnyObject & Sendable)?

    package init(
        method: String, rawPath: [UInt8], rawQuery: [UInt8]? = nil, headers: HTTPHeaders,
        bodyLength: BodyLength = .none, peer: PeerAddress, isHTTP11: Bool = true, receivedAt: MonotonicInstant
    ) {
        self.method = method
        self.rawPath = rawPath
        self.rawQuery = rawQuery
        self.headers = headers
        self.bodyLength = bodyLength
        self.peer = peer
        self.isHTTP11 = isHTTP11
        self.receivedAt = receivedAt
    }
}

/// A whole request.
package struct HTTPRequest: Sendable {
    package let head: HTTPRequestHead
    package let body: [UInt8]

    package init(head: HTTPRequestHead, body: [UInt8] = []) {
        self.head = head
        self.body = body
    }

    package var method: String { head.method }
    package var rawPath: [UInt8] { head.rawPath }
    package var rawQuery: [UInt8]? { head.rawQuery }
    package var headers: HTTPHeaders { head.headers }
    package var peer: PeerAddress { head.peer }
    package var receivedAt: MonotonicInstant { head.receivedAt }
}
