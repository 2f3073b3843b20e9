// SPDX-License-Identifier: Apache-2.0
import CLinux
import CMicrohttpd
import Glibc

/// What we do to a connection's socket ourselves, where libmicrohttpd has no call for it.
///
/// The descriptor stays the library's, which alone closes it.
struct ConnectionSocket: Sendable {
    let descriptor: Int32

    /// Ends both directions; the library then sees the end of the stream and closes.
    func end() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Whether bytes have arrived that were not read.
    var hasUnreadBytes: Bool {
        var byte: UInt8 = 0
        return unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
    }

    /// Whether the peer has ended its side of the stream and everything of it was read.
    var isHalfClosed: Bool {
        var byte: UInt8 = 0
        return unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) == 0
    }

    /// Throws away what has arrived, up to 256 KiB: a close over unread bytes is a reset, which may overtake an answer.
    func discardPending() {
        var waste = [UInt8](repeating: 0, count: 16_384)
        let size = waste.count
        for _ in 0..<16 {
            guard unsafe recv(descriptor, &waste, size, Int32(MSG_DONTWAIT)) == size else { return }
        }
    }

    /// How many of the bytes the socket took, 0 where its buffer is full; nil where the peer has gone.
    func sendPart(_ bytes: ArraySlice<UInt8>) -> Int? {
        let count = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
        if count >= 0 { return count }
        return errno == EAGAIN || errno == EINTR ? 0 : nil
    }

    /// Resets the connection at once: a dissolved association with no time to linger sends RST (tcp(7), connect(2)).
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        var address = sockaddr()
        address.sa_family = sa_family_t(AF_UNSPEC)
        unsafe connect(descriptor, &address, socklen_t(MemoryLayout<sockaddr>.size))
    }

    /// What the socket takes of the bytes at once.
    func send(_ bytes: [UInt8]) {
        _ = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
    }
}

extension HTTPConnection {
    /// Sends an answer past the library, which would not take one now; only ever as the connection's last act.
    ///
    /// Cut off where the socket's buffer is full: a peer that drips is owed no more. Before the end of a TLS handshake
    /// nothing can be said.
    func sendLast(_ response: HTTPResponse) {
        socket.discardPending()
        guard isTLS else { return socket.send(HTTPConnection.render(response)) }
        guard phase != .waiting, let handle = unsafe handle, let session = unsafe cmicrohttpd_tls_session(handle) else {
            return
        }
        _ = unsafe HTTPConnection.render(response).withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            _ = unsafe cmicrohttpd_tls_send(session, start, bytes.count)
        }
    }

    private static func render(_ response: HTTPResponse) -> [UInt8] {
        let reason = unsafe String(cString: MHD_get_reason_phrase_for(UInt32(response.status)))
        var text = "HTTP/1.1 \(response.status) \(reason)\r\nDate: \(httpDate())\r\nConnection: close\r\n"
        for (name, value) in response.ownHeaders { text += "\(name): \(value)\r\n" }
        text += "Content-Length: \(response.body.count)\r\n\r\n"
        return Array(text.utf8) + response.body
    }

    /// The date as RFC 9110, section 5.6.7, wants it.
    private static func httpDate() -> String {
        var now = time(nil)
        var parts = unsafe tm()
        unsafe gmtime_r(&now, &parts)
        var text = [CChar](repeating: 0, count: 40)
        let length = unsafe strftime(&text, 40, "%a, %d %b %Y %H:%M:%S GMT", &parts)
        return String(decoding: text.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
