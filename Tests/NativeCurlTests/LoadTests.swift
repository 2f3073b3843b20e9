// SPDX-License-Identifier: Apache-2.0
import NativeCurl
import NativeSystem
import Testing

@Suite("Many calls")
struct LoadTests {
    @Test("calls one after another share a connection")
    func keptConnection() async throws {
        let server = serving(okay)
        defer { server.stop() }
        let kept = try await withClient { client in
            var kept: [Bool?] = []
            for index in 0..<20 {
                kept.append(await client.perform(.get(server.url("/\(index)"))).answer?.usedKeptConnection)
            }
            return kept
        }
        #expect(kept == [false] + [Bool?](repeating: true, count: 19))
        #expect(Set(server.requests.map(\.connection)) == [0])
    }

    @Test("a thousand calls at a time on one client each get their own answer")
    func thousand() async throws {
        #expect(try raiseFileLimit(atLeast: 4096) >= 2500)
        let waiting = Locked(0)
        let all = Event()
        let server = ScriptedServer { peer in
            while let request = peer.readRequest() {
                if waiting.withLock({
                    $0 += 1; return $0
                }) == 1000 {
                    all.signal()
                }
                all.wait()
                let body = request.target
                peer.write("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }
        }
        defer { server.stop() }
        let wrong = try await withClient { client in
            await withTaskGroup(of: Bool.self) { group in
                for index in 0..<1000 {
                    group.addTask {
                        let result = await client.perform(.spend(server.url("/\(index)"), timeout: .seconds(30)))
                        return result.answer?.body == Array("/\(index)".utf8)
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 0 : 1) }
            }
        }
        #expect(wrong == 0)
        #expect(server.requests.count == 1000)
    }

    @Test("handles that are used again carry nothing from call to call")
    func cleanHandles() async throws {
        let server = serving(okay)
        defer { server.stop() }
        try await withClient { client in
            var post = CurlRequest.spend(server.url("/post"))
            post.headers = [("Authorization", "Bearer one")]
            _ = await client.perform(post)
            _ = await client.perform(.get(server.url("/get")))
        }
        let last = try #require(server.requests.last)
        #expect(last.head.hasPrefix("GET /get ") && !last.head.contains("Authorization") && last.body.isEmpty)
        #expect(!last.head.contains("Content-"))
    }
}
