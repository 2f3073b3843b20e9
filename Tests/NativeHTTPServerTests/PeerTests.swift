// SPDX-License-Identifier: Apache-2.0
import NativeHTTPServer
import NativeSystem
import TestSupport
import Testing

@Suite("Peers that leave")
struct PeerTests {
    @Test("a peer that has ended its side of the stream still gets its answer", arguments: [false, true])
    func halfClosed(waits: Bool) async throws {
        let gate = Gate()
        if !waits { gate.open() }
        let handler = ScriptedHandler { request in
            await gate.passed()
            return HTTPResponse(status: 200, body: request.body)
        }
        try await RunningServer.use(handler: handler) { running in
            let connection = try running.connect()
            try connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody")
            connection.finishSending()
            try await until { running.server.openRequests == 1 || !waits }
            gate.open()
            let answer = String(decoding: try await connection.readToEnd(), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 200 "))
            #expect(answer.hasSuffix("\r\n\r\nbody"))
        }
    }

    @Test("what was sent ahead is answered even when the stream has ended behind it")
    func pipelinedAndHalfClosed() async throws {
        try await RunningServer.use(handler: echo) { running in
            let connection = try running.connect()
            try connection.send(
                "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nPOST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody"
                    + "GET /3 HTTP/1.1\r\nHost: a\r\n\r\n")
            connection.finishSending()
            let answers = String(decoding: try await connection.readToEnd(), as: UTF8.self)
            #expect(answers.contains("GET /1 HTTP/1.1 200"))
            #expect(answers.contains("POST /2 bodyHTTP/1.1 200"))
            #expect(answers.hasSuffix("GET /3 "))
        }
    }

    @Test("when the peer is gone the handler runs to its end, and the answer is dropped")
    func goneWhileSuspended() async throws {
        let gate = Gate()
        let ended = Mailbox<Bool>()
        let handler = ScriptedHandler { _ in
            await gate.passed()
            ended.post(Task.isCancelled)
            return HTTPResponse(status: 200)
        }
        try await RunningServer.use(handler: handler) { running in
            let connection = try running.connect()
            try connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            try await until { running.server.openRequests == 1 }
            connection.reset()
            gate.open()
            #expect(try await ended.next() == false)
            try await until { running.server.openRequests == 0 && running.server.openConnections == 0 }
        }
    }

    @Test(
        "a peer that leaves in the middle of its request leaves nothing behind",
        arguments: [
            "GET / HT", "GET / HTTP/1.1\r\nHost", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nbody",
        ])
    func leavesMidway(part: String) async throws {
        let limits = TimeoutTests.limits(
            head: .milliseconds(200), body: .milliseconds(200), idle: .milliseconds(200))
        try await RunningServer.use(limits: limits, handler: echo) { running in
            let connection = try running.connect()
            try connection.send(part)
            connection.finishSending()
            let answer = try await connection.readToEnd()
            #expect(answer.isEmpty || answer.starts(with: Array("HTTP/1.1 408 ".utf8)))
            try await until { running.server.openRequests == 0 && running.server.openConnections == 0 }
        }
    }
}
