// SPDX-License-Identifier: Apache-2.0
import NativeHTTPServer
import NativeSystem
import TestSupport
import Testing

@Suite("Answers past the library")
struct RawAnswerTests {
    private static let get = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    private static let post = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nbody"

    private func server(_ answer: RawAnswer) -> ScriptedHandler {
        ScriptedHandler { request in
            String(decoding: request.rawPath, as: UTF8.self) == "/whole" ? HTTPResponse(status: 200) : .raw(answer)
        }
    }

    @Test("the bytes come as they are, then the connection ends", arguments: [get, post])
    func bytes(request: String) async throws {
        let answer = RawAnswer([.bytes(Array("HTTP/1.0 200 so".utf8)), .bytes(Array("-so\r\n\r\n".utf8))])
        try await RunningServer.use(handler: server(answer)) { running in
            let text = try await running.exchange(request)
            #expect(text == "HTTP/1.0 200 so-so\r\n\r\n")
            let again = try await running.exchange(request)
            #expect(again == "HTTP/1.0 200 so-so\r\n\r\n")
        }
    }

    @Test("no bytes are a connection that ends without an answer")
    func nothing() async throws {
        try await RunningServer.use(handler: server(RawAnswer([]))) { running in
            let text = try await running.exchange(RawAnswerTests.post)
            #expect(text.isEmpty)
        }
    }

    @Test("more than a socket's buffer holds arrives whole")
    func much() async throws {
        let page = [UInt8](repeating: 0x78, count: 8 << 20)
        try await RunningServer.use(handler: server(RawAnswer([.bytes(page)]))) { running in
            let text = try await running.exchange(RawAnswerTests.get)
            #expect(text.utf8.count == page.count)
        }
    }

    @Test("dripping bytes come one by one, and other connections are answered meanwhile")
    func drip() async throws {
        let answer = RawAnswer([.drip(Array("abcdefgh".utf8), every: .milliseconds(20))])
        try await RunningServer.use(handler: server(answer)) { running in
            let start = MonotonicInstant.now()
            let dripping = try running.connect()
            try dripping.send(RawAnswerTests.get)
            let first = try await dripping.read(count: 1)
            #expect(first == Array("a".utf8))
            let other = try running.connect()
            try other.send("GET /whole HTTP/1.1\r\nHost: localhost\r\n\r\n")
            let whole = try await other.readAnswer()
            #expect(whole.hasPrefix("HTTP/1.1 200 OK\r\n"))
            let rest = try await dripping.readToEnd()
            #expect(rest == Array("bcdefgh".utf8))
            #expect(start.duration(to: .now()) >= .milliseconds(160))
        }
    }

    @Test("an endless answer ends when its peer has gone, or when its time is over")
    func endless() async throws {
        var limits = RunningServer.limits
        limits.idleTimeout = .milliseconds(300)
        let answer = RawAnswer([.endless(Array("more and ".utf8))])
        try await RunningServer.use(limits: limits, handler: server(answer)) { running in
            let text = try await running.exchange(RawAnswerTests.get)
            #expect(text.hasPrefix("more and more and "))
            let leaving = try running.connect()
            try leaving.send(RawAnswerTests.get)
            _ = try await leaving.read(count: 100)
            leaving.reset()
            blockUntil { running.server.openConnections == 0 }
        }
    }

    @Test("a reset is one: what comes after it is an error and no end")
    func reset() async throws {
        let answer = RawAnswer([.bytes(Array("HTTP/1.1 ".utf8)), .wait(.milliseconds(20))], end: .reset)
        try await RunningServer.use(handler: server(answer)) { running in
            let connection = try running.connect()
            try connection.send(RawAnswerTests.get)
            let text = try await connection.readToEnd()
            #expect(text == Array("HTTP/1.1 ".utf8))
            blockUntil { running.server.openConnections == 0 }
            #expect(throws: RawConnection.Failure.self) {
                try connection.send("more")
                try connection.send("more")
            }
        }
    }

    @Test("a server that is stopped over one ends it")
    func stopped() async throws {
        try await RunningServer.use(handler: server(RawAnswer([.wait(.seconds(600))]))) { running in
            let connection = try running.connect()
            try connection.send(RawAnswerTests.get)
            blockUntil { running.server.openRequests == 1 }
            await running.server.stop()
            let last = try await connection.readToEnd()
            #expect(last.isEmpty)
        }
    }
}
