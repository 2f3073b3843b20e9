// SPDX-License-Identifier: Apache-2.0
import NativeCurl
import NativeEventLoop
import NativeHTTPServer
import NativeSystem
import TestSupport
import Testing

@Suite("TLS on a listener", .timeLimit(.minutes(1)))
struct TLSTests {
    @Test("requests and answers go over TLS, and a kept connection carries many")
    func keptConnection() async throws {
        try await Certificates.use { made in
            let peers = Locked<Set<UInt16>>([])
            let handler = ScriptedHandler { request in
                _ = peers.withLock { $0.insert(request.peer.port) }
                return await echo.response(request)
            }
            try await RunningServer.use(identity: try made.identity("a"), handler: handler) { running in
                let (url, size) = ("https://localhost:\(running.server.port)/p?q", 3_000)
                let bodies = try await withClient(trusting: made.certificate("a")) { client in
                    var bodies: [String] = []
                    for _ in 0..<20 { bodies.append(try text(await client.perform(post(url, size)))) }
                    return bodies
                }
                #expect(bodies == Array(repeating: "POST /p?q " + String(repeating: "x", count: size), count: 20))
                #expect(peers.withLock { $0.count } == 1)
            }
        }
    }

    @Test("a request whose handler takes its time is suspended and answered, many at once")
    func suspended() async throws {
        try await Certificates.use { made in
            let gate = Gate()
            let handler = ScriptedHandler { _ in
                await gate.passed()
                return HTTPResponse(status: 200, body: [UInt8](repeating: 0x79, count: 200_000))
            }
            try await RunningServer.use(loops: 2, identity: try made.identity("a"), handler: handler) { running in
                let (url, file) = ("https://localhost:\(running.server.port)/", made.certificate("a"))
                let sizes = try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<30 {
                        group.addTask {
                            try await withClient(trusting: file) { client in
                                try text(await client.perform(post(url, 10))).utf8.count
                            }
                        }
                    }
                    try await until { running.server.openRequests == 30 }
                    gate.open()
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(sizes == Array(repeating: 200_000, count: 30))
            }
        }
    }

    @Test("plain HTTP on the TLS port, and noise, end that connection and nothing else")
    func plainPeer() async throws {
        // Noise that could still become a handshake is waited for until the head's deadline.
        var limits = RunningServer.limits
        limits.headTimeout = .milliseconds(500)
        try await Certificates.use { made in
            try await RunningServer.use(limits: limits, identity: try made.identity("a"), handler: echo) { running in
                for bytes in ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "\u{16}\u{3}\u{1}\u{0}\u{2}xx", "\0\0\0\0\0\0\0\0"] {
                    let connection = try running.connect()
                    try connection.send(bytes)
                    let answer = try await connection.readToEnd()
                    // A TLS alert at most.
                    #expect(answer.count < 16 && !answer.starts(with: Array("HTTP".utf8)))
                }
                let url = "https://localhost:\(running.server.port)/"
                let result = try await withClient(trusting: made.certificate("a")) { await $0.perform(get(url)) }
                let body = try text(result)
                #expect(body == "GET / ")
                try await until { running.server.openConnections == 0 }
            }
        }
    }

    @Test("a handshake that does not go on is cut off at the head's deadline, however lively the peer is")
    func slowHandshake() async throws {
        var limits = RunningServer.limits
        limits.headTimeout = .milliseconds(200)
        try await Certificates.use { made in
            try await RunningServer.use(limits: limits, identity: try made.identity("a"), handler: echo) { running in
                let silent = try running.connect()
                let dripping = try running.connect()
                // The first bytes of a record that would be 512 bytes long.
                try dripping.send([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xFC, 0x03, 0x03])
                let drip = Task {
                    while true {
                        try dripping.send([0x00])
                        try await Task.sleep(for: .milliseconds(10))
                    }
                }
                #expect(try await silent.readToEnd(within: .seconds(5)).isEmpty)
                #expect(try await dripping.readToEnd(within: .seconds(5)).isEmpty)
                drip.cancel()
                try await until { running.server.openConnections == 0 }
            }
        }
    }

    @Test("what the server refuses in the middle of a request is said over TLS")
    func lateRefusal() async throws {
        var limits = RunningServer.limits
        limits.bodyTimeout = .milliseconds(200)
        try await Certificates.use { made in
            try await RunningServer.use(limits: limits, identity: try made.identity("a"), handler: echo) { running in
                let peer = try TLSPeer(port: running.server.port, trusting: made.certificate("a"))
                peer.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
                let answer = peer.readToEnd()
                #expect(answer.hasPrefix("HTTP/1.1 408 ") && answer.hasSuffix("refused: bodyTimeout"))
            }
        }
    }

    @Test("the limit of connections holds, and leaves those that are open alone")
    func connectionLimit() async throws {
        var limits = RunningServer.limits
        limits.connections = 3
        try await Certificates.use { made in
            try await RunningServer.use(limits: limits, identity: try made.identity("a"), handler: echo) { running in
                let open = try (0..<3).map { _ in try running.connect() }
                try await until { running.server.openConnections == 3 }
                #expect(try await running.connect().readToEnd().isEmpty)
                try await until { running.server.openConnections == 3 }
                withExtendedLifetime(open) {}
            }
        }
    }

    @Test("versions before TLS 1.2 are refused", arguments: [("-tls1_1", false), ("-tls1_2", true), ("-tls1_3", true)])
    func versions(option: String, isTaken: Bool) async throws {
        try await Certificates.use { made in
            try await RunningServer.use(identity: try made.identity("a"), handler: echo) { running in
                let process = try ChildProcess([
                    "/usr/bin/openssl", "s_client", "-connect", "127.0.0.1:\(running.server.port)", "-CAfile",
                    made.certificate("a"), "-cipher", "DEFAULT:@SECLEVEL=0", option,
                ])
                #expect((process.wait() == 0) == isTaken)
            }
        }
    }
}

@Suite("A listener's certificate", .timeLimit(.minutes(1)))
struct CertificateTests {
    @Test("a client that reconnects in a loop through changes sees the new one, and never an error")
    func changeUnderLoad() async throws {
        try await Certificates.use { made in
            let handler = ScriptedHandler { _ in
                HTTPResponse(status: 200, body: Array("ok".utf8), closesConnection: true)
            }
            try await RunningServer.use(loops: 2, identity: try made.identity("a"), handler: handler) { running in
                let url = "https://localhost:\(running.server.port)/"
                let both = made.bundle
                let (isOver, answers) = (Locked(false), Locked(0))
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            try await withClient(trusting: both) { client in
                                while !isOver.withLock({ $0 }) {
                                    let answer = try text(await client.perform(post(url, 100)))
                                    #expect(answer == "ok")
                                    answers.withLock { $0 += 1 }
                                }
                            }
                        }
                    }
                    for name in ["b", "a", "b", "a", "b"] {
                        let before = answers.withLock { $0 }
                        try await until { answers.withLock { $0 } > before + 20 }
                        try await running.server.show(try made.identity(name))
                        let only = try await withClient(trusting: made.certificate(name)) { await $0.perform(get(url)) }
                        #expect(try text(only) == "ok")
                        let other = made.certificate(name == "a" ? "b" : "a")
                        let stranger = try await withClient(trusting: other) { await $0.perform(get(url)) }
                        guard case .notSent(.tls(.verification)) = stranger else {
                            Issue.record("the old certificate is still shown")
                            continue
                        }
                    }
                    isOver.withLock { $0 = true }
                    try await group.waitForAll()
                }
                try await until { running.server.openConnections == 0 }
            }
        }
    }

    @Test("a connection that is open through a change is answered, and then told to close")
    func openConnection() async throws {
        try await Certificates.use { made in
            let gate = Gate()
            let handler = ScriptedHandler { request in
                if request.rawPath == Array("/slow".utf8) { await gate.passed() }
                return HTTPResponse(status: 200, body: Array("ok".utf8))
            }
            try await RunningServer.use(identity: try made.identity("a"), handler: handler) { running in
                let idle = try TLSPeer(port: running.server.port, trusting: made.certificate("a"))
                let busy = try TLSPeer(port: running.server.port, trusting: made.certificate("a"))
                busy.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
                try await until { running.server.openRequests == 1 && running.server.openConnections == 2 }
                try await running.server.show(try made.identity("b"))
                idle.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                for (peer, isSlow) in [(idle, false), (busy, true)] {
                    if isSlow { gate.open() }
                    let answer = peer.readToEnd()
                    #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.contains("\r\nConnection: close\r\n"))
                }
                try await until { running.server.openConnections == 0 }
            }
        }
    }

    @Test("draining and stopping after a change reach the old connections too")
    func drainAfterChange() async throws {
        try await Certificates.use { made in
            try await RunningServer.use(loops: 2, identity: try made.identity("a"), handler: echo) { running in
                let old = try running.connect()
                try await until { running.server.openConnections == 1 }
                try await running.server.show(try made.identity("b"))
                let new = try running.connect()
                try await until { running.server.openConnections == 2 }
                await running.server.drain()
                #expect(try await old.readToEnd().isEmpty)
                #expect(try await new.readToEnd().isEmpty)
                await running.server.stop()
                #expect(throws: RawConnection.Failure.self) { try running.connect() }
                #expect(running.server.openConnections == 0)
            }
        }
    }

    @Test("files that do not belong together, and what is no PEM, are typed failures")
    func badIdentity() async throws {
        try await Certificates.use { made in
            let (a, b) = (try made.bytes("a"), try made.bytes("b"))
            for (certificate, key) in [
                (a.certificate, b.key), (a.key, a.certificate), ([], a.key), (a.certificate, []),
                (Array(a.certificate.prefix(200)), a.key), (a.certificate + [0], a.key),
            ] {
                #expect(throws: HTTPServerError.identity) {
                    try TLSIdentity(certificate: certificate, privateKey: key)
                }
            }
            let identity = try made.identity("a")
            #expect("\(identity)" == "a certificate and its key")
        }
    }

    @Test("a listener without TLS has no certificate to change")
    func plainListener() async throws {
        try await Certificates.use { made in
            try await RunningServer.use(handler: echo) { running in
                let identity = try made.identity("a")
                await #expect(throws: HTTPServerError.noTLS) { try await running.server.show(identity) }
                #expect(try await running.exchange("GET / HTTP/1.0\r\nHost: a\r\n\r\n").hasSuffix("GET / "))
            }
        }
    }
}
