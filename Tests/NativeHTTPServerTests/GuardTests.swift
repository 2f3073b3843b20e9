// SPDX-License-Identifier: Apache-2.0
import NativeHTTPServer
import TestSupport
import Testing

@Suite("What the parser lets through, and we do not")
struct GuardTests {
    /// Heads that must be refused with 400, each with what is wrong.
    static let refused: [(head: String, defect: HTTPDefect)] = [
        (
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n",
            .lengthBesideTransferCoding
        ),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n",
            .lengthBesideTransferCoding
        ),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\n", .severalLengths),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\n", .severalLengths),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", .transferCoding),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked \r\n\r\n", .transferCoding),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
            .transferCoding
        ),
        ("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", .transferCoding),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", .severalHosts),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", .severalHosts),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n", .lineEnd),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: a\0\r\n\r\n", .lineEnd),
        ("GET / HTTP/1.1\r\nHost: a\r\n\0\0\r\n\r\n", .lineEnd),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: a\0\0Content-Length\0 4\r\n\r\n", .lineEnd),
        ("GET / HTTP/1.1\nHost: a\r\n\r\n", .lineEnd),
        ("GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", .lineEnd),
        ("GET / HTTP/1.1\r\nHost: a\r\n\n", .lineEnd),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n", .lineEnd),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n\tContent-Length: 4\r\n\r\n", .lineEnd),
        ("GET / HTTP/1.1\r\nHost: a\r\nX : a\r\n\r\n", .fieldName),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", .fieldValue),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: a\u{1}\r\n\r\n", .fieldValue),
        ("GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n", .target),
        ("GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", .target),
        ("GET a HTTP/1.1\r\nHost: a\r\n\r\n", .target),
        ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", .requestLine),
        ("G(T / HTTP/1.1\r\nHost: a\r\n\r\n", .requestLine),
    ]

    @Test("a head that two servers could read differently is refused, and the connection ends")
    func refusals() async throws {
        let seen = Mailbox<Bool>()
        let handler = ScriptedHandler(admission: { _ in
            seen.post(true)
            return nil
        }) { _ in HTTPResponse(status: 200) }
        try await RunningServer.use(handler: handler) { running in
            for (head, defect) in GuardTests.refused {
                let answer = try await running.exchange(head + "bodyGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n"), "\(head)")
                #expect(answer.hasSuffix("refused: \(HTTPRefusal.badRequest(defect))"), "\(head)")
                #expect(answer.contains("\r\nConnection: close\r\n"), "\(head)")
            }
            #expect(seen.isEmpty)
            // The answer can be read a moment before its request is counted out.
            try await until { running.server.openRequests == 0 }
        }
    }

    @Test(
        "what the parser refuses by itself is refused as well",
        arguments: [
            "GET / HTTP/1.1\r\n\r\n", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4 \r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n",
            "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", "GET /\r\n\r\n", "\u{16}\u{3}\u{1}\r\n\r\n",
        ])
    func parser(head: String) async throws {
        try await RunningServer.use(handler: echo) { running in
            let answer = try await running.exchange(head)
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 400 "))
        }
    }
}
