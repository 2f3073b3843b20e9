// SPDX-License-Identifier: Apache-2.0

/// An answer as HTTP text, written here so that each part of it can be wrong.
struct WireText: Sendable {
    var version = "HTTP/1.1"
    var answer: SimulatedAnswer
    /// What `Content-Length` says; nil for no such field.
    var length: Int?
    var lineEnd = "\r\n"
    var closes = true

    init(_ answer: SimulatedAnswer) {
        self.answer = answer
        length = answer.body.count
    }

    /// Status line and fields, up to the empty line's end.
    var head: [UInt8] {
        var lines = ["\(version) \(answer.status) \(answer.status < 300 ? "OK" : "Error")"]
        lines += answer.fields.map { "\($0.name): \($0.value)" }
        if let length { lines.append("Content-Length: \(length)") }
        if version == "HTTP/1.1", closes { lines.append("Connection: close") }
        return Array((lines.joined(separator: lineEnd) + lineEnd + lineEnd).utf8)
    }

    var bytes: [UInt8] { head + answer.body }

    /// The body in chunks of so many bytes (RFC 9112 section 7.1), with an extension and a trailer, as is allowed.
    func chunked(of size: Int) -> [UInt8] {
        var bytes = adding("Transfer-Encoding", "chunked").head
        var rest = answer.body[...]
        while !rest.isEmpty {
            let chunk = rest.prefix(size)
            bytes += Array("\(String(chunk.count, radix: 16));part=1\r\n".utf8) + chunk + Array("\r\n".utf8)
            rest = rest.dropFirst(size)
        }
        return bytes + Array("0\r\nX-Trailer: 1\r\n\r\n".utf8)
    }

    /// Without a length, with another field.
    private func adding(_ name: String, _ value: String) -> WireText {
        var text = WireText(answer.adding(name, value))
        text.length = nil
        return text
    }
}
