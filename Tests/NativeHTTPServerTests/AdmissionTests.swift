// SPDX-License-Identifier: Apache-2.0
import NativeHTTPServer
import TestSupport
import Testing

@Suite("Before the body is read")
struct AdmissionTests {
    static let closed = ScriptedHandler(admission: { _ in HTTPResponse(status: 401) }) { _ in
        HTTPResponse(status: 200)
    }

    @Test("a refused request with a body ends the connection without being told to go on")
    func refusedBody() async throws {
        try await RunningServer.use(handler: AdmissionTests.closed) { running in
            let answer = try await running.exchange(
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 401 "))
            #expect(answer.contains("\r\nConnection: close\r\n"))
        }
    }

    @Test("a refused request without a body leaves the connection open")
    func refusedWithoutBody() async throws {
        try await RunningServer.use(handler: AdmissionTests.closed) { running in
            let connection = try running.connect()
            for _ in 0..<3 {
                try connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try await connection.readAnswer().hasPrefix("HTTP/1.1 401 "))
            }
            // The answer can be read a moment before its request is counted out.
            try await until { running.server.openRequests == 0 }
        }
    }

    @Test("an admitted request is told to go on, and then its body is read")
    func goOn() async throws {
        try await RunningServer.use(handler: echo) { running in
            let connection = try running.connect()
            try connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
            #expect(try await connection.read(through: "\r\n\r\n") == Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
            try connection.send("body")
            #expect(try await connection.readAnswer().hasSuffix("POST / body"))
        }
    }

    @Test("a body that is announced too large is refused before it is sent; one at the limit is taken")
    func announcedTooLarge() async throws {
        try await RunningServer.use(handler: echo) { running in
            let answer = try await running.exchange(
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4097\r\nExpect: 100-continue\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 413 "))
            #expect(answer.hasSuffix("refused: bodyTooLarge"))
            let body = String(repeating: "x", count: 4_096)
            let taken = try await running.exchange(
                "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4096\r\n\r\n\(body)")
            #expect(taken.hasSuffix("POST / \(body)"))
        }
    }

    @Test("a body that is sent anyway does not cost the peer its answer")
    func sentAnyway() async throws {
        try await RunningServer.use(handler: echo) { running in
            let body = String(repeating: "x", count: 100_000)
            let answer = try await running.exchange(
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n\(body)")
            #expect(answer.hasSuffix("refused: bodyTooLarge"))
        }
    }

    @Test("a chunked body is refused once it is too large")
    func chunkedTooLarge() async throws {
        try await RunningServer.use(handler: echo) { running in
            let chunk = "800\r\n" + String(repeating: "x", count: 2_048) + "\r\n"
            let answer = try await running.exchange(
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(chunk)\(chunk)1\r\nx\r\n0\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 413 "))
            #expect(answer.hasSuffix("refused: bodyTooLarge"))
            #expect(answer.contains("\r\nDate: "))
        }
    }

    @Test(
        "a head over our limit is refused by us, a huge one by the parser, with the same status",
        arguments: [
            (2_100, true), (5_000, true), (40_000, false),
        ])
    func headersTooLarge(size: Int, isOurs: Bool) async throws {
        try await RunningServer.use(handler: echo) { running in
            let value = String(repeating: "x", count: size)
            let answer = try await running.exchange("GET / HTTP/1.1\r\nHost: a\r\nX: \(value)\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 431 "))
            #expect(answer.hasSuffix("refused: headersTooLarge") == isOurs)
        }
    }
}
