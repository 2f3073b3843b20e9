// SPDX-License-Identifier: Apache-2.0

/// A request as it came in, byte for byte.
package struct ScriptedRequest: Sendable {
    /// From 1, over all connections.
    package let number: Int
    /// The number of its connection, from 1.
    package let connection: Int
    /// Head and body.
    package let bytes: [UInt8]

    package var text: String { String(decoding: bytes, as: UTF8.self) }
    /// The first line, as in `POST /token HTTP/1.1`.
    package var line: String { String(text.prefix { $0 != "\r\n" }) }
    package var body: String {
        let end = ScriptedStream.endOfHead(bytes) ?? bytes.count
        return String(decoding: bytes[end...], as: UTF8.self)
    }

    /// The value of the first header field of that name, in any case.
    package func field(_ name: String) -> String? {
        let end = ScriptedStream.endOfHead(bytes) ?? bytes.count
        for line in String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n").dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].lowercased() == name.lowercased() else { continue }
            return String(parts[1].drop { $0 == " " })
        }
        return nil
    }
}

/// What a scripted provider does about one request.
package struct ScriptedReply: Sendable {
    package enum End: Sendable {
        /// The connection stays for the next request.
        case keepOpen
        /// The stream ends in order.
        case close
        /// The connection is reset, as by a peer that crashed.
        case reset
        /// Nothing more happens until the client leaves or the provider stops.
        case hold
    }

    /// Each part is sent by a call of its own.
    package var parts: [[UInt8]]
    package var end: End

    package init(parts: [[UInt8]], end: End) {
        self.parts = parts
        self.end = end
    }

    /// Those bytes, then that end.
    package static func bytes(_ bytes: [UInt8], then end: End) -> ScriptedReply {
        ScriptedReply(parts: [bytes], end: end)
    }

    /// A whole answer in one piece; `fields` are lines such as `Retry-After: 5`.
    package static func http(
        _ status: Int, _ body: String, type: String = "application/json", fields: [String] = [], end: End = .keepOpen
    ) -> ScriptedReply {
        let head = ["HTTP/1.1 \(status) Scripted", "Content-Type: \(type)", "Content-Length: \(body.utf8.count)"]
        let text = (head + fields).joined(separator: "\r\n") + "\r\n\r\n" + body
        return .bytes(Array(text.utf8), then: end)
    }

    /// No byte at all, then that end.
    package static func silence(then end: End) -> ScriptedReply { ScriptedReply(parts: [], end: end) }

    /// The first `count` bytes of what this reply sends, then that end.
    package func cut(after count: Int, then end: End) -> ScriptedReply {
        .bytes(Array(parts.joined().prefix(count)), then: end)
    }

    /// The same bytes, each sent by itself.
    package var dripping: ScriptedReply { ScriptedReply(parts: parts.joined().map { [$0] }, end: end) }
}
