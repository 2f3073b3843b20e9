// SPDX-License-Identifier: Apache-2.0
import NativeCurl
import NativeEventLoop
import NativeSystem
import Testing

@Suite("A request that spends something leaves once")
struct SendOnceTests {
    /// Answers the first request of a connection, reads the second and closes.
    private func closingAtTheSecond() -> ScriptedServer {
        ScriptedServer { peer in
            guard peer.readRequest() != nil else { return }
            peer.write(okay)
            _ = peer.readRequest()
        }
    }

    /// Sends two requests that spend something, the second on the connection that the first left.
    ///
    /// On a machine that is late, the kept connection may be too old for the second one; then the trap was not met,
    /// and it is set again.
    private func twoOnOneConnection(
        _ server: () -> ScriptedServer
    ) async throws -> (first: CurlResult, second: CurlResult, server: ScriptedServer) {
        for _ in 0..<10 {
            let server = server()
            defer { server.stop() }
            let (first, second) = try await withClient { client in
                (await client.perform(.spend(server.url("/a"))), await client.perform(.spend(server.url("/b"))))
            }
            if server.requests.map(\.connection) == [0, 0] { return (first, second, server) }
        }
        throw TrapNotMet()
    }

    private struct TrapNotMet: Error {}

    @Test("a server that reads the second POST of a kept connection and closes sees it once")
    func resentPOST() async throws {
        let (first, second, server) = try await twoOnOneConnection(closingAtTheSecond)
        #expect(first.answer?.status == 200)
        #expect(second.unknownName == "secondSendPrevented")
        #expect(server.requests.map(\.target) == ["/a", "/b"])
    }

    @Test("libcurl itself would send that POST again, as a request that spends nothing shows")
    func theTrapIsThere() async throws {
        let server = closingAtTheSecond()
        defer { server.stop() }
        var request = CurlRequest.spend(server.url("/token"))
        request.spends = false
        let second = try await withClient { [request] client in
            _ = await client.perform(request)
            return await client.perform(request)
        }
        #expect(second.answer?.status == 200)
        #expect(server.requests.map(\.connection) == [0, 0, 1])
    }

    @Test("a connection reset under the second POST is an unknown outcome, and it was sent once")
    func resetUnderPOST() async throws {
        let (_, second, server) = try await twoOnOneConnection {
            ScriptedServer { peer in
                guard peer.readRequest() != nil else { return }
                peer.write(okay)
                _ = peer.readRequest()
                peer.reset()
            }
        }
        #expect(second.unknown != nil)
        #expect(server.requests.map(\.target) == ["/a", "/b"])
    }

    @Test("a server that has closed a kept connection under a POST is given a new one for each call from then on")
    func unsteadyServer() async throws {
        let server = closingAtTheSecond()
        defer { server.stop() }
        let other = serving(okay)
        defer { other.stop() }
        try await withClient { client in
            // Where the machine is late the kept connection is too old at first.
            for _ in 0..<20 where await client.perform(.spend(server.url("/first"))).unknown == nil {}
            for number in 0..<5 {
                let url = server.url("/\(number)")
                #expect(await client.perform(number == 3 ? .get(url) : .spend(url)).answer?.status == 200)
            }
            _ = await client.perform(.spend(other.url("/a")))
            #expect(await client.perform(.spend(other.url("/b"))).answer?.usedKeptConnection == true)
        }
        let later = server.requests.filter { $0.target != "/first" }
        #expect(later.map(\.target) == (0..<5).map { "/\($0)" })
        #expect(Set(later.map(\.connection)).count == 5)
    }

    @Test("a connection idle for two seconds carries no request that spends something")
    func staleConnection() async throws {
        let server = serving(okay)
        defer { server.stop() }
        try await withClient { client in
            _ = await client.perform(.get(server.url("/a")))
            try await client.loop.sleep(until: .now().advanced(by: .milliseconds(2100)))
            _ = await client.perform(.spend(server.url("/b")))
        }
        #expect(server.requests.map(\.connection) == [0, 1])
    }

    @Test("a fence that says no leaves the request unsent, on a new connection and on a kept one")
    func fenced() async throws {
        let server = serving(okay)
        defer { server.stop() }
        let asked = Locked(0)
        try await withClient { client in
            let fence: @Sendable () -> Bool = {
                asked.withLock { $0 += 1 }; return false
            }
            #expect(await client.perform(.spend(server.url("/new"), fence: fence)).notSent == .fenced)
            #expect(await client.perform(.spend(server.url("/open"), fence: { true })).answer?.status == 200)
            #expect(await client.perform(.spend(server.url("/kept"), fence: fence)).notSent == .fenced)
        }
        #expect(server.requests.map(\.target) == ["/open"])
        #expect(asked.withLock { $0 } == 2)
    }

    @Test("an answer cut at any byte is an unknown outcome; with a whole head its status and the rest are kept")
    func cutAnywhere() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n"
        let whole = Array((head + "{}").utf8)
        let server = ScriptedServer { peer in
            guard peer.readRequest() != nil else { return }
            peer.write(Array(whole.prefix(peer.number)))
        }
        defer { server.stop() }
        try await withClient { client in
            for count in 0..<whole.count {
                let result = await client.perform(.spend(server.url("/\(count)")))
                guard count >= head.utf8.count else {
                    #expect(result.unknownName == "closedWithoutAnswer", "cut after \(count) bytes")
                    continue
                }
                guard case .unknown(.cutOff(let part)) = result else {
                    Issue.record("\(result) when cut after \(count) bytes")
                    continue
                }
                #expect(part.status == 200 && part.body == Array("{}".utf8.prefix(count - head.utf8.count)))
            }
            #expect(await client.perform(.spend(server.url("/whole"))).answer?.body == Array("{}".utf8))
        }
        #expect(server.requests.map(\.target) == (0..<whole.count).map { "/\($0)" } + ["/whole"])
    }

    @Test("a connection that ends or is reset without an answer is an unknown outcome", arguments: [false, true])
    func noAnswer(isReset: Bool) async throws {
        let server = ScriptedServer { peer in
            _ = peer.readRequest()
            if isReset { peer.reset() }
        }
        defer { server.stop() }
        let result = try await withClient { await $0.perform(.spend(server.url("/"))) }
        #expect(result.unknownName == (isReset ? "reset" : "closedWithoutAnswer"))
        #expect(server.requests.count == 1)
    }
}
