// SPDX-License-Identifier: Apache-2.0
import NativeEventLoop
import NativeHTTPServer
import NativeSystem
import TestSupport
import Testing

@Suite("Draining and stopping")
struct DrainTests {
    @Test("draining closes what is idle, refuses new connections and finishes what is under way, saying close")
    func drain() async throws {
        let gate = Gate()
        let handler = ScriptedHandler { request in
            if request.rawPath == Array("/slow".utf8) { await gate.passed() }
            return HTTPResponse(status: 200)
        }
        try await RunningServer.use(loops: 2, handler: handler) { running in
            let idle = try running.connect()
            try idle.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await !idle.readAnswer().contains("Connection: close"))
            let busy = try running.connect()
            try busy.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
            try await until { running.server.openRequests == 1 }
            await running.server.drain()
            #expect(try await idle.readToEnd().isEmpty)
            #expect(throws: RawConnection.Failure.self) { try running.connect() }
            #expect(running.server.openRequests == 1)
            gate.open()
            let answer = String(decoding: try await busy.readToEnd(), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 200 "))
            #expect(answer.contains("\r\nConnection: close\r\n"))
            try await until { running.server.openRequests == 0 && running.server.openConnections == 0 }
        }
    }

    @Test("a request that is half sent when draining begins is answered")
    func drainWithinRequest() async throws {
        try await RunningServer.use(handler: echo) { running in
            let connection = try running.connect()
            try connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbo")
            try await until { running.server.openRequests == 1 }
            await running.server.drain()
            try connection.send("dy")
            #expect(String(decoding: try await connection.readToEnd(), as: UTF8.self).hasSuffix("POST / body"))
        }
    }

    @Test("stopping answers suspended requests, ends silent connections, and may be asked for twice")
    func stop() async throws {
        let gate = Gate()
        let handler = ScriptedHandler { _ in
            await gate.passed()
            return HTTPResponse(status: 200)
        }
        try await RunningServer.use(handler: handler) { running in
            let connections = try (0..<130).map { _ in try running.connect() }
            for connection in connections.dropFirst() { try connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n") }
            try await until { running.server.openRequests == 129 && running.server.openConnections == 130 }
            await running.server.stop()
            #expect(try await connections[0].readToEnd().isEmpty)
            for connection in connections.dropFirst() {
                #expect(try await connection.readToEnd().starts(with: Array("HTTP/1.1 503 ".utf8)))
            }
            #expect(running.server.openConnections == 0)
            gate.open()
            try await until { running.server.openRequests == 0 }
            await running.server.stop()
        }
    }

    @Test("a port that somebody listens on already is a typed failure, not shared in silence")
    func portInUse() async throws {
        try await RunningServer.use(handler: echo) { running in
            let options = HTTPServerOptions(
                host: "127.0.0.1", port: running.server.port, limits: RunningServer.limits, identity: nil)
            await #expect(throws: HTTPServerError.cannotListen(SystemCallError("bind", code: 98))) {
                _ = try await HTTPServer.start(on: running.loops, options: options, handler: echo)
            }
        }
    }

    @Test(
        "an address that is no address, or not ours, is a typed failure",
        arguments: [
            ("localhost", HTTPServerError.notAnAddress("localhost")), ("[::1]", .notAnAddress("[::1]")),
            ("192.0.2.1", .cannotListen(SystemCallError("bind", code: 99))),
        ])
    func badAddress(host: String, expected: HTTPServerError) async throws {
        let loops = try EventLoopGroup.start(name: "bad", count: 2)
        let options = HTTPServerOptions(host: host, port: 0, limits: RunningServer.limits, identity: nil)
        await #expect(throws: expected) {
            _ = try await HTTPServer.start(on: loops, options: options, handler: echo)
        }
        loops.stop()
    }
}
