// SPDX-License-Identifier: Apache-2.0
internal import NativeSystem

/// An answer. `Date`, `Content-Length` and `Connection` are the server's: lines of these names are left out.
package struct HTTPResponse: Sendable {
    /// 200 to 599.
    package var status: Int
    /// In the order in which they are to be sent.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// Says `Connection: close`, and closes after the answer.
    package var closesConnection: Bool

    package init(
        status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        closesConnection: Bool = false
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.closesConnection = closesConnection
    }

    /// No answer: the connection is closed without a byte, as by a peer that crashed. For servers that simulate one.
    package static let hangUp = HTTPResponse(status: 0)

    /// Bytes past the library, after which the connection is over; over TLS the same as `hangUp`.
    package static func raw(_ answer: RawAnswer) -> HTTPResponse {
        var response = hangUp
        response.raw = answer
        return response
    }

    var isHangUp: Bool { status == 0 }
    private(set) var raw: RawAnswer?

    /// Whether it can be written down without breaking out of its lines: no CR, LF, NUL or other control character,
    /// and names that are tokens.
    var isSendable: Bool {
        guard (200...599).contains(status) else { return false }
        for (name, value) in headers {
            guard !name.isEmpty, name.utf8.span.allSatisfy({ $0.isTokenByte }) else { return false }
            guard value.utf8.span.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return false }
        }
        return true
    }

    /// The lines that are sent; the server's own are not among them.
    var ownHeaders: [(name: String, value: String)] {
        headers.filter { !HTTPResponse.isServersOwn($0.name) }
    }

    static func isServersOwn(_ name: String) -> Bool {
        switch name.utf8.count {
        case 4, 10, 14, 17:
            ["date", "connection", "content-length", "transfer-encoding"].contains(name.lowercased())
        default: false
        }
    }
}
