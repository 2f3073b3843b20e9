// SPDX-License-Identifier: Apache-2.0
import NativeHTTPServer
import NativeSystem
import TestSupport
import Testing

@Suite("Requests over the wire")
struct RequestTests {
    @Test("path and query arrive as they were sent, nothing unescaped")
    func rawTarget() async throws {
        try await RunningServer.use(handler: echo) { running in
            let answer = try await running.exchange(
                "GET /v1/x/a%00b%2Fc?q=%41+b&&x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(answer.hasSuffix("\r\n\r\nGET /v1/x/a%00b%2Fc?q=%41+b&&x "))
        }
    }

    @Test(
        "an absolute target is read as its path",
        arguments: [
            ("http://a/b?c", "GET /b?c "), ("HTTP://a", "GET / "), ("http://a?c", "GET /?c "),
        ])
    func absoluteTarget(target: String, expected: String) async throws {
        try await RunningServer.use(handler: echo) { running in
            let answer = try await running.exchange(
                "GET \(target) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(answer.hasSuffix("\r\n\r\n\(expected)"))
        }
    }

    @Test("field lines arrive all, in order, byte for byte, without the blanks around their values")
    func fields() async throws {
        let seen = Mailbox<HTTPRequest>()
        let handler = ScriptedHandler { request in
            seen.post(request)
            return HTTPResponse(status: 204)
        }
        try await RunningServer.use(handler: handler) { running in
            let connection = try running.connect()
            try connection.send(
                Array("GET / HTTP/1.1\r\nhOST: a\r\nX:  \t b c \r\n".utf8)
                    + Array("Authorization: one\r\nAuthorization: two\r\nY:\r\nZ: ".utf8) + [0xC3, 0xBC, 0xFF]
                    + Array("\r\n\r\n".utf8))
            let request = try await seen.next()
            #expect(request.headers.count == 6)
            #expect(request.headers.firstText("Host") == "a")
            #expect(request.headers.firstText("x") == "b c")
            #expect(request.headers.all("authorization").map(Array.init) == [Array("one".utf8), Array("two".utf8)])
            #expect(request.headers.first("y")?.isEmpty == true)
            #expect(request.headers.first("z").map(Array.init) == [0xC3, 0xBC, 0xFF])
            #expect(request.headers.firstText("z") == nil)
            #expect(
                request.headers.fields.map { String(decoding: $0.name, as: UTF8.self) }
                    == ["hOST", "X", "Authorization", "Authorization", "Y", "Z"])
            #expect(request.peer.text == "127.0.0.1")
            #expect(request.peer.bytes == [127, 0, 0, 1])
        }
    }

    @Test(
        "a body of a given length and a chunked one arrive whole, however they are cut",
        arguments: [
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\nhello world",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"
                + "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nT: x\r\n\r\n",
        ])
    func bodies(request: String) async throws {
        try await RunningServer.use(handler: echo) { running in
            let connection = try running.connect()
            for byte in request.utf8 { try connection.send([byte]) }
            #expect(try await connection.readAnswer().hasSuffix("POST / hello world"))
        }
    }

    @Test(
        "a chunked request is the last one of its connection, for its end may lie elsewhere for whoever passes it on",
        arguments: ["5;\n", "5;x=y\n", "5\r\n"])
    func chunkedIsLast(line: String) async throws {
        try await RunningServer.use(handler: echo) { running in
            let hidden = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n"
            let answers = try await running.exchange(
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(line)hello\r\n0\r\n\r\n\(hidden)")
            #expect(answers.split(separator: "HTTP/1.1 200", omittingEmptySubsequences: false).count == 2)
            #expect(answers.contains("\r\nConnection: close\r\n"))
            #expect(answers.hasSuffix("POST / hello"))
        }
    }

    @Test("requests that are sent ahead are answered one after the other, in order")
    func pipelining() async throws {
        try await RunningServer.use(handler: echo) { running in
            let connection = try running.connect()
            var requests = ""
            for number in 0..<20 {
                requests += "POST /\(number) HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody"
            }
            try connection.send(requests)
            for number in 0..<20 {
                #expect(try await connection.readAnswer().hasSuffix("POST /\(number) body"))
            }
        }
    }

    @Test("HEAD gets the length of the body, and none of it")
    func head() async throws {
        try await RunningServer.use(handler: echo) { running in
            let answer = try await running.exchange("HEAD /abc HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(answer.contains("\r\nContent-Length: 10\r\n"))
            #expect(answer.hasSuffix("\r\n\r\n"))
        }
    }

    @Test("HTTP/1.0 works, and closes")
    func http10() async throws {
        try await RunningServer.use(handler: echo) { running in
            let answer = try await running.exchange("GET /old HTTP/1.0\r\n\r\n")
            #expect(answer.hasSuffix("GET /old "))
        }
    }

    @Test(
        "an answer carries a date, and only lines that can be written down",
        arguments: [
            ("a\r\nX: b", 500), ("a\nb", 500), ("a\0b", 500), ("a", 200),
        ])
    func headerValues(value: String, status: Int) async throws {
        let handler = ScriptedHandler { _ in
            HTTPResponse(status: 200, headers: [("X-Value", value), ("Content-Length", "999"), ("Connection", "x")])
        }
        try await RunningServer.use(handler: handler) { running in
            let answer = try await running.exchange("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
            #expect(answer.contains("\r\nDate: "))
            #expect(!answer.contains("999"))
            #expect(answer.contains("X-Value: a\r\n") == (status == 200))
        }
    }

    @Test("IPv6 is listened on as well")
    func ipv6() async throws {
        try await RunningServer.use(host: "::1", handler: echo) { running in
            let connection = try RawConnection(port: running.server.port, isIPv6: true)
            try connection.send("GET /six HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await connection.readAnswer().hasSuffix("GET /six "))
        }
    }
}
