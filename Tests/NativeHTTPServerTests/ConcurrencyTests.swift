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

    @Test("more requests than a loop begins at once all begin where it has time, though none of them ends")
    func beginsInSpareTime() async throws {
        let held = HeldRequests()
        try await RunningServer.use(handler: held.handler) { running in
            let connections = try running.send(300)
            try await until { held.begun == 300 }
            held.gate.open()
            for connection in connections { #expect(try await connection.readAnswer().hasPrefix("HTTP/1.1 200 ")) }
        }
    }

    @Test("a loop that is busy begins no more than 64 requests, and another when one has ended")
    func waitsWhileBusy() async throws {
        let held = HeldRequests()
        try await RunningServer.use(limits: .patient, handler: held.handler) { running in
            let occupation = Occupation(of: running.loops.loops[0])
            let first = try running.connect()
            try first.send("GET /first HTTP/1.1\r\nHost: a\r\n\r\n")
            try await until { held.begun == 1 }
            let connections = try running.send(99)
            try await until { running.server.openRequests == 100 }
            try await occupation.turns(200)
            #expect(held.begun == 64)
            held.first.open()
            #expect(try await first.readAnswer().hasPrefix("HTTP/1.1 200 "))
            try await occupation.turns(200)
            #expect(held.begun == 65)
            occupation.end()
            try await until { held.begun == 100 }
            held.gate.open()
            for connection in connections { #expect(try await connection.readAnswer().hasPrefix("HTTP/1.1 200 ")) }
        }
    }

    @Test("a request does not wait for a busy loop for longer than a second, though none of those before it ends")
    func patience() async throws {
        let held = HeldRequests()
        try await RunningServer.use(handler: held.handler) { running in
            let occupation = Occupation(of: running.loops.loops[0])
            let connections = try running.send(100)
            try await until { held.begun == 64 }
            try await until { held.begun == 100 }
            occupation.end()
            held.gate.open()
            for connection in connections { #expect(try await connection.readAnswer().hasPrefix("HTTP/1.1 200 ")) }
        }
    }

    @Test("requests that wait for a busy loop begin one by one as others end, and all are answered")
    func followEachOther() async throws {
        let handler = ScriptedHandler { request in
            for _ in 0..<5 { await Task.yield() }
            return HTTPResponse(status: 200, body: request.rawPath)
        }
        try await RunningServer.use(handler: handler) { running in
            let occupation = Occupation(of: running.loops.loops[0])
            let connections = try running.send(500)
            for (number, connection) in connections.enumerated() {
                #expect(try await connection.readAnswer().hasSuffix("\r\n\r\n/\(number)"))
            }
            occupation.end()
        }
    }

    @Test("a request that has not begun when the server stops is told so")
    func stopsBeforeBegin() async throws {
        let held = HeldRequests()
        try await RunningServer.use(limits: .patient, handler: held.handler) { running in
            let occupation = Occupation(of: running.loops.loops[0])
            let connections = try running.send(80)
            try await until { running.server.openRequests == 80 }
            await running.server.stop()
            for connection in connections {
                let answer = String(decoding: try await connection.readToEnd(), as: UTF8.self)
                #expect(answer.hasSuffix("refused: stopping"))
            }
            #expect(held.begun == 64)
            #expect(running.server.openRequests == 64)
            occupation.end()
            held.gate.open()
            try await until { running.server.openRequests == 0 }
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

/// Requests whose handlers count themselves and then wait; `/first` for a gate of its own.
private struct HeldRequests {
    let gate = Gate()
    let first = Gate()
    private let count = Locked(0)

    var begun: Int { count.withLock { $0 } }

    var handler: ScriptedHandler {
        ScriptedHandler { [gate, first, count] request in
            count.withLock { $0 += 1 }
            await (request.rawPath == Array("/first".utf8) ? first : gate).passed()
            return HTTPResponse(status: 200)
        }
    }
}

/// Keeps a loop from ever having nothing to do.
private final class Occupation: Sendable {
    private let state = Locked((turns: 0, hasEnded: false))
    private let loop: EventLoop

    init(of loop: EventLoop) {
        self.loop = loop
        turn()
    }

    private func turn() {
        loop.execute { [self] in
            let hasEnded = state.withLock { state in
                state.turns += 1
                return state.hasEnded
            }
            if !hasEnded { turn() }
        }
    }

    /// Waits until the loop has gone round so often again.
    func turns(_ count: Int) async throws {
        let end = state.withLock { $0.turns } + count
        try await until { state.withLock { $0.turns } >= end }
    }

    func end() { state.withLock { $0.hasEnded = true } }
}

extension RunningServer {
    /// So many requests, each on a connection of its own.
    fileprivate func send(_ count: Int) throws -> [RawConnection] {
        try (0..<count).map { number in
            let connection = try connect()
            try connection.send("GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\n")
            return connection
        }
    }
}

extension HTTPServerOptions.Limits {
    /// A request waits for a busy loop for as long as a test takes.
    fileprivate static var patient: Self {
        var limits = RunningServer.limits
        limits.startPatience = .seconds(600)
        return limits
    }
}
