// SPDX-License-Identifier: Apache-2.0
import NativeHTTPServer
import NativeSystem
import TestSupport
import Testing

@Suite("Deadlines of a connection")
struct TimeoutTests {
    static func limits(
        head: Duration = .seconds(20), body: Duration = .seconds(20), idle: Duration = .seconds(20)
    ) -> HTTPServerOptions.Limits {
        var limits = RunningServer.limits
        limits.headTimeout = head
        limits.bodyTimeout = body
        limits.idleTimeout = idle
        return limits
    }

    @Test("a head that drips in is cut off at its deadline, however lively the connection is")
    func drippingHead() async throws {
        let limits = TimeoutTests.limits(head: .milliseconds(150))
        try await RunningServer.use(limits: limits, handler: echo) { running in
            let connection = try running.connect()
            try connection.send("GET / HTTP/1.1\r\n")
            let drip = drip("x", into: connection)
            let answer = String(decoding: try await connection.readToEnd(), as: UTF8.self)
            drip.cancel()
            #expect(answer.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
            #expect(answer.hasSuffix("refused: headTimeout"))
        }
    }

    @Test("a body that drips in is cut off at its deadline")
    func drippingBody() async throws {
        let limits = TimeoutTests.limits(body: .milliseconds(150))
        try await RunningServer.use(limits: limits, handler: echo) { running in
            let connection = try running.connect()
            try connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4000\r\n\r\n")
            let drip = drip("x", into: connection)
            let answer = String(decoding: try await connection.readToEnd(), as: UTF8.self)
            drip.cancel()
            #expect(answer.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
            #expect(answer.hasSuffix("refused: bodyTimeout"))
            // The answer can be read a moment before its request is counted out.
            try await until { running.server.openRequests == 0 }
        }
    }

    @Test("a chunk's line without an end is refused long before the body's deadline")
    func endlessChunkLine() async throws {
        let limits = TimeoutTests.limits(idle: .milliseconds(400))
        try await RunningServer.use(limits: limits, handler: echo) { running in
            let connection = try running.connect()
            let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n2;name="
            try connection.send(head + String(repeating: "x", count: 40_000))
            let answer = String(decoding: try await connection.readToEnd(), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
            #expect(answer.hasSuffix("refused: badRequest(The line before a chunk is too long.)"))
            try await until { running.server.openRequests == 0 && running.server.openConnections == 0 }
        }
    }

    @Test("a body that has arrived when its deadline passes is taken, however much of it lies in the socket")
    func arrivedInTime() async throws {
        var limits = TimeoutTests.limits(body: .milliseconds(100))
        limits.bodyBytes = 100_000
        let peer = Locked<RawConnection?>(nil)
        var handler = echo
        handler.admission = { _ in
            // The loop is held up past the deadline, as by SIGSTOP, while the body arrives.
            let end = MonotonicInstant.now().advanced(by: .milliseconds(250))
            try? peer.withLock { $0 }?.send([UInt8](repeating: 0x78, count: 60_000))
            while MonotonicInstant.now() < end {}
            return nil
        }
        try await RunningServer.use(limits: limits, handler: handler) { running in
            let connection = try running.connect()
            peer.withLock { $0 = connection }
            try connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n")
            #expect(try await connection.readAnswer().utf8.count > 60_000)
        }
    }

    @Test("a connection that says nothing is closed")
    func silent() async throws {
        let limits = TimeoutTests.limits(head: .milliseconds(100))
        try await RunningServer.use(limits: limits, handler: echo) { running in
            let bytes = try await running.connect().readToEnd()
            #expect(bytes.isEmpty)
        }
    }

    @Test("a kept connection is closed when no further request comes")
    func idle() async throws {
        let limits = TimeoutTests.limits(idle: .milliseconds(100))
        try await RunningServer.use(limits: limits, handler: echo) { running in
            let connection = try running.connect()
            try connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try await connection.readAnswer()
            #expect(try await connection.readToEnd().isEmpty)
        }
    }

    @Test("a handler may take longer than every deadline of the connection")
    func slowHandler() async throws {
        let limits = TimeoutTests.limits(
            head: .milliseconds(50), body: .milliseconds(50), idle: .milliseconds(50))
        let gate = Gate()
        let handler = ScriptedHandler { _ in
            await gate.passed()
            return HTTPResponse(status: 200)
        }
        try await RunningServer.use(limits: limits, handler: handler) { running in
            let connection = try running.connect()
            try connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            await #expect(throws: RawConnection.Failure.self) {
                try await connection.read(count: 1, within: .milliseconds(300))
            }
            gate.open()
            #expect(try await connection.readAnswer().hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test("a peer that does not take its answer is let go")
    func unreadAnswer() async throws {
        let handler = ScriptedHandler { _ in
            HTTPResponse(status: 200, body: [UInt8](repeating: 0x78, count: 20_000_000))
        }
        let limits = TimeoutTests.limits(idle: .milliseconds(150))
        try await RunningServer.use(limits: limits, handler: handler) { running in
            let connection = try running.connect()
            try connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try await connection.read(count: 1)
            try await until { running.server.openConnections == 0 }
            #expect(try await connection.readToEnd().count < 20_000_000)
        }
    }
}

/// Sends `text` every few milliseconds until the task is cancelled or the peer has gone.
private func drip(_ text: String, into connection: RawConnection) -> Task<Void, any Error> {
    Task {
        while true {
            try connection.send(text)
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}
