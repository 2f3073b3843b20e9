// SPDX-License-Identifier: Apache-2.0
import NativeEventLoop
import NativeHTTPServer
import NativeSystem
import TestSupport
import Testing

@Suite("Many connections at once")
struct ConcurrencyTests {
    @Test("exactly 128·k connections that become ready at once are all served", arguments: [128, 256])
    func multiplesOf128(count: Int) async throws {
        try await RunningServer.use(handler: echo) { running in
            let connections = try (0..<count).map { _ in try running.connect() }
            try await until { running.server.openConnections == count }
            for connection in connections { try connection.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n") }
            for connection in connections {
                #expect(try await connection.readAnswer().hasSuffix("GET /x "))
            }
        }
    }

    @Test("128 callers with kept connections are answered over and over, on two loops")
    func keepAlive() async throws {
        try await RunningServer.use(loops: 2, handler: echo) { running in
            let connections = try (0..<128).map { _ in try running.connect() }
            for round in 0..<5 {
                for connection in connections {
                    try connection.send("POST /\(round) HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi")
                }
                for connection in connections {
                    #expect(try await connection.readAnswer().hasSuffix("POST /\(round) hi"))
                }
            }
            #expect(running.server.openConnections == 128)
            try await until { running.server.openRequests == 0 }
        }
    }

    @Test("128 requests that all wait are suspended, and all answered when they go on")
    func suspended() async throws {
        let gate = Gate()
        let handler = ScriptedHandler { request in
            await gate.passed()
            return HTTPResponse(status: 200, body: request.rawPath)
        }
        try await RunningServer.use(handler: handler) { running in
            let connections = try (0..<128).map { _ in try running.connect() }
            for (number, connection) in connections.enumerated() {
                try connection.send("GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\n")
            }
            try await until { running.server.openRequests == 128 }
            gate.open()
            for (number, connection) in connections.enumerated() {
                #expect(try await connection.readAnswer().hasSuffix("\r\n\r\n/\(number)"))
            }
        }
    }

    @Test("a handler that never ends does not stop others, nor the stop of the server")
    func endlessHandler() async throws {
        let gate = Gate()
        let handler = ScriptedHandler { request in
            if request.rawPath == Array("/endless".utf8) { await gate.passed() }
            return HTTPResponse(status: 200)
        }
        try await RunningServer.use(handler: handler) { running in
            let endless = try running.connect()
            try endless.send("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n")
            try await until { running.server.openRequests == 1 }
            let other = try running.connect()
            try other.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await other.readAnswer().hasPrefix("HTTP/1.1 200 "))
            await running.server.stop()
            let answer = String(decoding: try await endless.readToEnd(), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 503 "))
            #expect(answer.hasSuffix("refused: stopping"))
            #expect(running.server.openRequests == 1)
            gate.open()
            try await until { running.server.openRequests == 0 }
        }
    }

    @Test("handlers run on the loop of their connection, also after they have waited")
    func ownLoop() async throws {
        let group = Locked<EventLoopGroup?>(nil)
        let handler = ScriptedHandler { _ in
            let loops = group.withLock { $0 }
            let before = loops?.current
            await Task { await Task.yield() }.value
            let same = before != nil && before === loops?.current
            return HTTPResponse(status: same ? 200 : 500)
        }
        try await RunningServer.use(loops: 2, handler: handler) { running in
            group.withLock { $0 = running.loops }
            for _ in 0..<16 {
                let answer = try await running.exchange("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                #expect(answer.hasPrefix("HTTP/1.1 200 "))
            }
        }
    }

    @Test("connections over the limit are told so, and the others go on")
    func connectionLimit() async throws {
        var limits = RunningServer.limits
        limits.connections = 3
        try await RunningServer.use(limits: limits, handler: echo) { running in
            let kept = try (0..<3).map { _ in try running.connect() }
            try await until { running.server.openConnections == 3 }
            let refused = String(decoding: try await running.connect().readToEnd(), as: UTF8.self)
            #expect(refused.hasPrefix("HTTP/1.1 503 "))
            #expect(refused.hasSuffix("refused: tooManyConnections"))
            for connection in kept {
                try connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try await connection.readAnswer().hasPrefix("HTTP/1.1 200 "))
            }
        }
    }
}
