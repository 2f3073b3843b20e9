// SPDX-License-Identifier: Apache-2.0

/// What is known about the fate of a request.
package enum CurlResult: Sendable {
    /// A whole answer, whatever its status.
    case answered(CurlAnswer)
    /// Provably no byte of the request left this process.
    case notSent(NotSentReason)
    /// A byte of the request may have left, and no whole answer came.
    case unknown(UnknownReason)
}

/// Why no byte of a request left.
package enum NotSentReason: Error, Equatable, Sendable {
    /// The URL is none, has a user name in it, or is neither `https` nor `http`.
    case badURL
    /// A header with a control character, or a body beyond 1 GiB.
    case badRequest
    /// Plain `http` to something else than a loopback address.
    case plainHTTPRefused
    /// Every address of the host is one that the policy, or this house's own rule, refuses.
    case addressRefused
    /// The host's name was not resolved.
    case resolve
    case connect(ConnectFault)
    case tls(TLSFault)
    /// The proxy was not found or would not connect us.
    case proxy
    /// `beforeFirstByte` said no.
    case fenced
    /// As many calls as `CurlConfiguration.calls` allows are under way.
    case tooManyCalls
    /// The client is stopped, or was before the request could leave.
    case stopped
    /// libcurl could not do its part (no memory, a broken option): its code.
    case local(UInt32)
}

package enum ConnectFault: Equatable, Sendable {
    case refused
    /// The address cannot be reached, or the connection broke before the request.
    case unreachable
    /// `connectTimeout`, or `timeout`, passed before the request could leave.
    case timeout
}

package enum TLSFault: Equatable, Sendable {
    case handshake
    /// Nobody whom we trust vouches for the certificate.
    case verification
    /// The certificate, or one above it, is not valid any more, or not yet.
    case expired
    /// The certificate is for another host.
    case otherHost
    /// The file of trusted certificates cannot be read.
    case trustStore
    /// Our certificate cannot be shown, or the server does not take it. In TLS 1.3 it says so only after the request has
    /// left, and has ended the connection before it looks at one (RFC 8446, section 4.4.2.4).
    case clientCertificate
}

/// Why nobody knows what became of a request that may have left.
package enum UnknownReason: Error, Sendable {
    case timeout
    case reset
    /// The connection ended before a whole head.
    case closedWithoutAnswer
    /// libcurl was about to send it a second time, after a kept connection had died.
    case secondSendPrevented
    /// A whole head, and what there is of the body.
    case cutOff(CurlAnswer)
    case bodyTooLarge(status: Int)
    /// A whole head, and a body of which nothing could be decoded: it is not in the coding that the head names.
    case undecodable(status: Int)
    /// What came is no HTTP that we take, or its head is too long.
    case protocolError
    /// The client was stopped while the answer was awaited.
    case stopped
}

/// An answer. Harmless when printed: its status and its size.
package struct CurlAnswer: Sendable {
    package let status: Int
    package let headers: CurlHeaders
    /// Decoded from `gzip`.
    package let body: [UInt8]
    /// The address that was dialled (the proxy's where there is one), as text.
    package let address: String
    /// From the call to the last byte, as libcurl measured.
    package let elapsed: Duration
    /// Whether a connection of an earlier call carried it.
    package let usedKeptConnection: Bool
}

extension CurlAnswer: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "status \(status), \(body.count) bytes" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
