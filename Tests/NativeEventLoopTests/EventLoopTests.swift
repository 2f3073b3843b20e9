// SPDX-License-Identifier: Apache-2.0
import Glibc
import NativeEventLoop
import NativeSystem
import TestSupport
import Testing

@Suite("The event loop")
struct EventLoopTests {
    @Test("an async function stays on the loop that its task prefers")
    func staysOnLoop() async throws {
        let loop = try EventLoop.start(name: "stay")
        let stayed = await Task(executorPreference: loop) {
            var here = [loop.isCurrent]
            await Task.yield()
            here.append(loop.isCurrent)
            try? await loop.sleep(until: .now().advanced(by: .milliseconds(2)))
            here.append(loop.isCurrent)
            here.append(await stillOn(loop))
            return here
        }.value
        #expect(stayed == [true, true, true, true])
        #expect(!loop.isCurrent)
        loop.stop()
    }

    @Test("a closure is queued, never run inline")
    func neverInline() async throws {
        let loop = try EventLoop.start(name: "inline")
        let seen = Mailbox<String>()
        loop.execute {
            loop.execute { seen.post("inner") }
            seen.post("outer")
        }
        #expect(try await seen.next(2) == ["outer", "inner"])
        loop.stop()
    }

    @Test("work for spare time runs once there is nothing else to do, and not because a timer is due")
    func spareTime() async throws {
        let loop = try EventLoop.start(name: "spare")
        let seen = Mailbox<String>()
        @Sendable func occupy(_ turns: Int) {
            if turns == 0 { return seen.post("busy no more") }
            loop.execute {
                _ = loop.schedule(at: .now()) { occupy(turns - 1) }
            }
        }
        loop.execute {
            loop.executeWhenIdle { seen.post("idle") }
            occupy(200)
        }
        #expect(try await seen.next(2) == ["busy no more", "idle"])
        loop.stop()
    }

    @Test("closures from many threads all run, each once")
    func manyThreads() async throws {
        let loop = try EventLoop.start(name: "many")
        let sum = Locked(0)
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<2_000 { loop.execute { sum.withLock { $0 += 1 } } } }
            }
        }
        loop.stop()
        #expect(sum.withLock { $0 } == 16_000)
    }

    @Test("a handler may deregister itself and another that is ready in the same batch")
    func deregisterWithinBatch() async throws {
        let loop = try EventLoop.start(name: "batch")
        let (one, other) = (try Wire(), try Wire())
        one.write()
        other.write()
        let seen = Mailbox<Int32>()
        loop.execute {
            let registered = Locked<[Registration]>([])
            for wire in [one, other] {
                let registration = try? loop.register(descriptor: wire.reader, interest: .readable) { readiness in
                    #expect(readiness.contains(.readable))
                    seen.post(wire.reader)
                    for registration in registered.withLock({ $0 }) { loop.deregister(registration) }
                }
                if let registration { registered.withLock { $0.append(registration) } }
            }
        }
        _ = try await seen.next()
        await Task(executorPreference: loop) { await Task.yield() }.value
        loop.stop()
        #expect(seen.isEmpty)
    }

    @Test("a descriptor is watched for what it was last told")
    func updateInterest() async throws {
        let loop = try EventLoop.start(name: "update")
        let wire = try Wire()
        let seen = Mailbox<Readiness>()
        loop.execute {
            let held = Locked<Registration?>(nil)
            let registration = try? loop.register(descriptor: wire.writer, interest: .readable) { readiness in
                seen.post(readiness)
                if let registration = held.withLock({ $0 }) { loop.deregister(registration) }
            }
            held.withLock { $0 = registration }
            if let registration { try? loop.update(registration, interest: .writable) }
        }
        #expect(try await seen.next() == .writable)
        loop.stop()
    }

    @Test("a descriptor that cannot be watched is a typed failure")
    func unwatchable() async throws {
        let loop = try EventLoop.start(name: "bad")
        let failure = await Task(executorPreference: loop) { () -> EventLoopError? in
            do throws(EventLoopError) {
                _ = try loop.register(descriptor: -1, interest: .readable) { _ in }
                return nil
            } catch { return error }
        }.value
        loop.stop()
        #expect(failure == .system(SystemCallError("epoll_ctl", code: EBADF)))
    }

    @Test("what could be read when a deadline passed is served before the timer fires")
    func socketsBeforeTimers() async throws {
        let loop = try EventLoop.start(name: "order")
        let wires = try (0..<300).map { _ in try Wire() }
        let seen = Mailbox<String>()
        loop.execute {
            for wire in wires {
                _ = try? loop.register(descriptor: wire.reader, interest: .readable) { _ in
                    wire.drain()
                    seen.post("socket")
                }
            }
            _ = loop.schedule(at: .now().advanced(by: .milliseconds(5))) { seen.post("timer") }
            // The loop is held up past the deadline, as by SIGSTOP, while bytes arrive.
            let end = MonotonicInstant.now().advanced(by: .milliseconds(20))
            while MonotonicInstant.now() < end {}
            for wire in wires { wire.write() }
        }
        let order = try await seen.next(301)
        loop.stop()
        #expect(order.last == "timer")
    }

    @Test("a group's loops take turns, and each runs on a thread of its own")
    func group() async throws {
        let group = try EventLoopGroup.start(name: "group", count: 2)
        let (first, second, third) = (group.next(), group.next(), group.next())
        #expect(first !== second)
        #expect(first === third)
        let current = await Task(executorPreference: second) { group.current === second && !first.isCurrent }.value
        #expect(current)
        group.stop()
    }

    @Test("stopping runs what was handed in before, and drops what comes after")
    func stopping() async throws {
        let loop = try EventLoop.start(name: "stop")
        let seen = Mailbox<Int>()
        loop.execute {
            for number in 1...3 { loop.execute { seen.post(number) } }
        }
        loop.stop()
        loop.execute { seen.post(4) }
        loop.stop()
        #expect(try await seen.next(3) == [1, 2, 3])
        #expect(seen.isEmpty)
    }

    @Test("a stopped loop lets go of itself")
    func noLeak() throws {
        weak var kept: EventLoop?
        do {
            let loop = try EventLoop.start(name: "leak")
            kept = loop
            loop.stop()
        }
        #expect(kept == nil)
    }
}

private func stillOn(_ loop: EventLoop) async -> Bool {
    await Task.yield()
    return loop.isCurrent
}

/// A pipe: a descriptor to read from and one to write to.
final class Wire: Sendable {
    let reader: Int32
    let writer: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemCallError.last("pipe") }
        (reader, writer) = (ends[0], ends[1])
    }

    deinit {
        close(reader)
        close(writer)
    }

    func write() {
        var byte: UInt8 = 1
        _ = Glibc.write(writer, &byte, 1)
    }

    func drain() {
        var byte: UInt8 = 0
        _ = read(reader, &byte, 1)
    }
}
