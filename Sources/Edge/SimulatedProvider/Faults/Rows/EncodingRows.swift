// SPDX-License-Identifier: Apache-2.0
import NativeHTTPServer
import NativeJSON

extension FaultTable {
    static let encodingRows: [FaultRow] = [
        .bend("form_encoded", "The answer is form-encoded, and says so.") { answer, _ in
            answer.encodeAsForm("application/x-www-form-urlencoded")
        },
        .bend("form_as_text", "The answer is form-encoded, calls itself text/plain, and the lifetime expires.") {
            answer, _ in
            answer.change { $0.rename("expires_in", "expires") }
            answer.encodeAsForm("text/plain")
        },
        .bend("form_as_json", "The answer is form-encoded and calls itself JSON.") { answer, _ in
            answer.encodeAsForm("application/json")
        },
        type("type_html", "The JSON calls itself text/html.", "text/html"),
        type("type_missing", "No Content-Type.", nil),
        type(
            "type_odd_case", #"The content type is Application/JSON;Charset="utf-8"."#,
            #"Application/JSON;Charset="utf-8""#),
        type("type_latin1", "The content type claims ISO-8859-1.", "application/json; charset=ISO-8859-1"),
        .bend("status", "A success with the status NUMBER (201).", number: 201, at: .callsAndRevocation) {
            answer, strike in answer.status = min(strike.status, 299)
        },
        .bend("gzip", "The answer is compressed, though nobody asked for that.", at: .calls) { answer, _ in
            answer.body = Gzip.stored(answer.body)
            answer = answer.adding("Content-Encoding", "gzip")
        },
        .bend("encoding_identity", "The answer says Content-Encoding: identity.", at: .calls) { answer, _ in
            answer = answer.adding("Content-Encoding", "identity")
        },
        .wire("chunked", "The answer comes in chunks of NUMBER bytes (7), with a trailer.", number: 7) {
            answer, strike in RawAnswer([.bytes(WireText(answer).chunked(of: max(1, strike.count)))])
        },
        .wire("http_1_0", "The answer is HTTP/1.0 and ends with its connection.") { answer, _ in
            var text = WireText(answer)
            text.version = "HTTP/1.0"
            text.length = nil
            return RawAnswer([.bytes(text.bytes)])
        },
        .wire("connection_close", "The answer says Connection: close, and the connection closes.") { answer, _ in
            RawAnswer([.bytes(WireText(answer).bytes)])
        },
        .wire("bare_line_feeds", "The head's lines end with LF alone.") { answer, _ in
            var text = WireText(answer)
            text.lineEnd = "\n"
            return RawAnswer([.bytes(text.bytes)])
        },
        .wire("odd_fields", "The head holds folded, nameless and non-ASCII fields, and two cookies.") { answer, _ in
            var text = WireText(answer)
            text.answer.fields += [
                .init("X-Folded", "one\r\n  two"), .init("X-Latin", "caf\u{E9}"), .init("X-Empty", ""),
                .init("Set-Cookie", "a=1; Path=/"), .init("Set-Cookie", "a=2; Path=/"), .init("", "nameless"),
            ]
            return RawAnswer([.bytes(text.bytes)])
        },
        .wire("many_fields", "The head has NUMBER fields (200) more.", number: 200) { answer, strike in
            var text = WireText(answer)
            let count = min(strike.count, 100_000)
            text.answer.fields += (0..<count).map { .init("X-Field-\($0)", "some words that matter to nobody") }
            return RawAnswer([.bytes(text.bytes)])
        },
        .wire("early_hints", "100 and 103 come before the answer.") { answer, _ in
            let early = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n"
            return RawAnswer([.bytes(Array(early.utf8) + WireText(answer).bytes)])
        },
    ]

    private static func type(_ name: String, _ sentence: String, _ type: String?) -> FaultRow {
        .bend(name, sentence, at: .calls) { answer, _ in answer.setType(type) }
    }
}

extension SimulatedAnswer {
    /// The members as a form under that content type.
    fileprivate mutating func encodeAsForm(_ type: String) {
        guard let object = try? JSONValue.parse(body, as: .callers) else { return }
        let pairs = object.members.map { name, value in
            let text = value.string ?? String(decoding: value.serialized(.compact), as: UTF8.self)
            return FormPairs.encode(name) + "=" + FormPairs.encode(text)
        }
        body = Array(pairs.joined(separator: "&").utf8)
        setType(type)
    }
}
