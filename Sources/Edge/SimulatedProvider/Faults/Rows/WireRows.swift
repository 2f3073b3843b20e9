// SPDX-License-Identifier: Apache-2.0
import NativeHTTPServer

extension FaultTable {
    static let wireRows: [FaultRow] = [
        .wire(
            "cut_off",
            "The call has its effect (the code is spent), then the connection closes after NUMBER bytes (0) "
                + "of the answer.", number: 0
        ) { answer, strike in RawAnswer([.bytes(Array(WireText(answer).bytes.prefix(strike.count)))]) },
        .wire("cut_off_body", "The connection closes after NUMBER bytes (20) of the body.", number: 20) {
            answer, strike in
            let text = WireText(answer)
            return RawAnswer([.bytes(text.head + answer.body.prefix(strike.count))])
        },
        .wire("reset", "The connection is reset after NUMBER bytes (0) of the answer.", number: 0) { answer, strike in
            let bytes = Array(WireText(answer).bytes.prefix(strike.count))
            // The peer may read them first; a reset takes along what it has not read.
            return RawAnswer(bytes.isEmpty ? [] : [.bytes(bytes), .wait(.milliseconds(100))], end: .reset)
        },
        .wire("stall", "Not a byte comes for NUMBER seconds (60), then the connection closes.", number: 60) {
            _, strike in RawAnswer([.wait(strike.seconds)])
        },
        .wire("stall_body", "The body stops in the middle for NUMBER seconds (60).", number: 60) { answer, strike in
            let text = WireText(answer)
            return RawAnswer([.bytes(text.head + answer.body.prefix(answer.body.count / 2)), .wait(strike.seconds)])
        },
        .wire("drip", "The answer comes byte by byte, NUMBER milliseconds (2) apart.", number: 2) { answer, strike in
            let pause = Duration.microseconds(Int64(min(strike.number, 60_000) * 1000))
            return RawAnswer([.drip(WireText(answer).bytes, every: pause)])
        },
        .wire("endless_head", "The head has no end.") { answer, _ in
            RawAnswer([.bytes(Array("HTTP/1.1 200 OK\r\n".utf8)), .endless(Array("X-More: and more\r\n".utf8))])
        },
        .wire("endless_hints", "103 comes again and again, and no answer.") { _, _ in
            RawAnswer([.endless(Array("HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n".utf8))])
        },
        .wire("switching", "101 to another protocol, which nobody asked for.") { answer, _ in
            let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n"
            return RawAnswer([.bytes(Array(head.utf8) + answer.body)])
        },
        .wire("endless_body", "The body is chunked and has no end.") { answer, _ in
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
            let chunk = Array("400\r\n".utf8) + [UInt8](repeating: 0x20, count: 1024) + Array("\r\n".utf8)
            return RawAnswer([.bytes(Array(head.utf8)), .endless(chunk)])
        },
        .bend(
            "large_body", "NUMBER bytes (1200000) of blanks stand before the document.", number: 1_200_000,
            at: .calls
        ) { answer, strike in
            answer.body = [UInt8](repeating: 0x20, count: min(strike.count, 1 << 24)) + answer.body
        },
        .wire("length_too_long", "Content-Length tells NUMBER bytes (10) more than come.", number: 10) {
            answer, strike in
            var text = WireText(answer)
            text.length = answer.body.count + strike.count
            return RawAnswer([.bytes(text.bytes)])
        },
        .wire("length_too_short", "Content-Length tells NUMBER bytes (10) fewer than come.", number: 10) {
            answer, strike in
            var text = WireText(answer)
            text.length = max(0, answer.body.count - strike.count)
            return RawAnswer([.bytes(text.bytes)])
        },
        .wire("lengths_differ", "Two Content-Length fields, the second one shorter.") { answer, _ in
            var text = WireText(answer.adding("Content-Length", String(answer.body.count)))
            text.length = answer.body.count / 2
            return RawAnswer([.bytes(text.bytes)])
        },
        .wire("idle_close", "The connection is not said to close, and closes after the answer.") { answer, _ in
            var text = WireText(answer)
            text.closes = false
            return RawAnswer([.bytes(text.bytes)])
        },
        .wire(
            "idle_dead", "After the answer the connection stays for NUMBER seconds (2), and nobody reads it.", number: 2
        ) { answer, strike in
            var text = WireText(answer)
            text.closes = false
            return RawAnswer([.bytes(text.bytes), .wait(strike.seconds)])
        },
        .wire("two_answers", "The answer comes twice, and the connection stays for a second.") { answer, _ in
            var text = WireText(answer)
            text.closes = false
            return RawAnswer([.bytes(text.bytes + text.bytes), .wait(.seconds(1))])
        },
        .wire("garbage", "Bytes that are no HTTP.") { _, _ in
            RawAnswer([.bytes([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00] + Array("SSH-2.0-garbage\r\n\r\n".utf8))])
        },
        .wire("no_head", "The body alone, as in HTTP/0.9.") { answer, _ in RawAnswer([.bytes(answer.body)]) },
        .wire("bad_status_line", "The status is no number.") { answer, _ in
            RawAnswer([.bytes(Array("HTTP/1.1 fine\r\n\r\n".utf8) + answer.body)])
        },
    ]
}
