// SPDX-License-Identifier: Apache-2.0
import Glibc
import NativeCurl
import NativeEventLoop
import NativeSystem
import TestSupport
import Testing

@Suite("Calls and time", .timeLimit(.minutes(5)))
struct TimeTests {
    /// A hundred are more than one turn of the loop serves before it looks at its timers.
    @Test(
        "answers that arrived while the loop was blocked beyond the time-out are still taken", arguments: [1, 100])
    func lateLoop(calls: Int) async throws {
        let isBlocked = Event()
        let isAnswered = Event()
        let (sent, answered) = (Locked(0), Locked(0))
        let server = ScriptedServer { peer in
            guard peer.readRequest() != nil else { return }
            isBlocked.wait()
            peer.write(okay)
            if answered.withLock({
                $0 += 1; return $0
            }) == calls {
                isAnswered.signal()
            }
            _ = peer.readRequest()
        }
        defer { server.stop() }
        let timeout = Duration.seconds(6) * patience()
        let statuses = try await withClient { client in
            // Asked right before the first byte; what it hands in runs once the request was written.
            let fence: @Sendable () -> Bool = {
                guard
                    sent.withLock({
                        $0 += 1; return $0
                    }) == calls
                else { return true }
                let deadline = MonotonicInstant.now().advanced(by: timeout + .milliseconds(10))
                client.loop.execute {
                    isBlocked.signal()
                    isAnswered.wait()
                    while MonotonicInstant.now() < deadline { usleep(1000) }
                }
                return true
            }
            let request = CurlRequest.spend(server.url("/"), timeout: timeout, fence: fence)
            return await withTaskGroup(of: Int?.self) { group in
                for _ in 0..<calls { group.addTask { await client.perform(request).answer?.status } }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(statuses == [Int?](repeating: 200, count: calls))
    }

    /// 900,000 bytes are more than libcurl reads in one go, and the rest must not wait for another turn.
    @Test("an answer of many pieces that arrived while the loop was blocked is taken whole")
    func lateLargeAnswer() async throws {
        let isBlocked = Event()
        let isAnswered = Event()
        let size = 900_000
        let server = ScriptedServer { peer in
            guard peer.readRequest() != nil else { return }
            isBlocked.wait()
            peer.write("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
            peer.write([UInt8](repeating: 0x61, count: size))
            isAnswered.signal()
            _ = peer.readRequest()
        }
        defer { server.stop() }
        let timeout = Duration.seconds(1) * patience()
        let result = try await withClient { client in
            let fence: @Sendable () -> Bool = {
                let deadline = MonotonicInstant.now().advanced(by: timeout + .milliseconds(10))
                client.loop.execute {
                    isBlocked.signal()
                    isAnswered.wait()
                    while MonotonicInstant.now() < deadline { usleep(1000) }
                }
                return true
            }
            return await client.perform(.spend(server.url("/"), timeout: timeout, fence: fence))
        }
        #expect(result.answer?.body.count == size, "\(result)")
    }

    @Test("a call that is not answered in time is an unknown outcome, at its time")
    func timeout() async throws {
        let server = ScriptedServer { peer in while peer.readRequest() != nil {} }
        defer { server.stop() }
        let started = MonotonicInstant.now()
        let result = try await withClient { await $0.perform(.spend(server.url("/"), timeout: .milliseconds(150))) }
        #expect(result.unknownName == "timeout")
        #expect(started.duration(to: .now()) >= .milliseconds(150))
        #expect(started.duration(to: .now()) < .seconds(5))
    }

    @Test("a handshake that hangs ends at the connect time-out, and nothing was sent")
    func connectTimeout() async throws {
        let server = ScriptedServer { peer in _ = peer.read(100_000).map { _ in peer.read(1) } }
        defer { server.stop() }
        var request = CurlRequest.spend(server.url("/", scheme: "https"))
        request.connectTimeout = .milliseconds(150)
        let result = try await withClient { [request] in await $0.perform(request) }
        #expect(result.notSent == .connect(.timeout))
    }

    @Test("cancelling who waits does not cancel the transfer")
    func cancelled() async throws {
        let asked = Event()
        let answer = Event()
        let server = ScriptedServer { peer in
            guard peer.readRequest() != nil else { return }
            asked.signal()
            answer.wait()
            peer.write(okay)
        }
        defer { server.stop() }
        let result = try await withClient { client in
            let task = Task { await client.perform(.spend(server.url("/"))) }
            await asked.happens()
            task.cancel()
            answer.signal()
            return await task.value
        }
        #expect(result.answer?.status == 200)
    }

    @Test("stopping the client ends what is under way as unknown, and later calls are not sent")
    func stop() async throws {
        let asked = Event()
        let server = ScriptedServer { peer in
            while peer.readRequest() != nil { asked.signal() }
        }
        defer { server.stop() }
        try await withClient { client in
            async let first = client.perform(.spend(server.url("/first")))
            await asked.happens()
            await client.stop()
            #expect(await first.unknownName == "stopped")
            #expect(await client.perform(.spend(server.url("/second"))).notSent == .stopped)
        }
        #expect(server.requests.map(\.target) == ["/first"])
    }

    @Test("a call on a loop that has ended is answered at once")
    func endedLoop() async throws {
        let client = try await withClient { $0 }
        #expect(await client.perform(.get("http://127.0.0.1:1/")).notSent == .stopped)
    }

    @Test("a task on the loop makes its call there")
    func onTheLoop() async throws {
        let server = serving(okay)
        defer { server.stop() }
        try await withClient { client in
            await withTaskExecutorPreference(client.loop) {
                #expect(client.loop.isCurrent)
                #expect(await client.perform(.get(server.url("/"))).answer?.status == 200)
                #expect(client.loop.isCurrent)
            }
        }
    }
}
