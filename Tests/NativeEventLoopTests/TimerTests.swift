// SPDX-License-Identifier: Apache-2.0
@testable import NativeEventLoop
import NativeSystem
import TestSupport
import Testing

@Suite("Timers of the loop")
struct TimerTests {
    @Test("timers fire in the order of their deadlines, and equal ones in the order of their setting")
    func order() async throws {
        let loop = try EventLoop.start(name: "order")
        let seen = Mailbox<Int>()
        loop.execute {
            let start = MonotonicInstant.now()
            for (number, delay) in [(3, 9), (1, 1), (2, 1), (4, 9), (0, -5)] {
                _ = loop.schedule(at: start.advanced(by: .milliseconds(delay))) { seen.post(number) }
            }
        }
        #expect(try await seen.next(5) == [0, 1, 2, 3, 4])
        loop.stop()
    }

    @Test("a timer is never early")
    func neverEarly() async throws {
        let loop = try EventLoop.start(name: "early")
        let early = Mailbox<Duration>()
        loop.execute {
            for microseconds in stride(from: 100, through: 5_000, by: 100) {
                let deadline = MonotonicInstant.now().advanced(by: .microseconds(microseconds))
                _ = loop.schedule(at: deadline) { early.post(deadline.duration(to: .now())) }
            }
        }
        let lateness = try await early.next(50)
        loop.stop()
        #expect(lateness.allSatisfy { $0 >= .zero })
    }

    @Test("a cancelled timer does not fire, and its token is spent")
    func cancelled() async throws {
        let loop = try EventLoop.start(name: "cancel")
        let seen = Mailbox<String>()
        loop.execute {
            let start = MonotonicInstant.now()
            let token = loop.schedule(at: start.advanced(by: .milliseconds(1))) { seen.post("cancelled") }
            #expect(loop.cancel(token))
            #expect(!loop.cancel(token))
            let next = loop.schedule(at: start.advanced(by: .milliseconds(2))) { seen.post("kept") }
            #expect(!loop.cancel(token))
            _ = next
        }
        #expect(try await seen.next() == "kept")
        loop.stop()
        #expect(seen.isEmpty)
    }

    @Test("a timer that sets another at once does not keep the loop from its other work")
    func noStarvation() async throws {
        let loop = try EventLoop.start(name: "starve")
        let seen = Mailbox<Bool>()
        loop.execute { again(loop) }
        loop.execute { seen.post(true) }
        #expect(try await seen.next())
        loop.stop()
    }

    @Test("the heap gives back its timers in order, whatever was taken out between")
    func heap() {
        var heap = TimerHeap()
        var random = SystemRandomNumberGenerator()
        var expected: [Int64] = []
        for _ in 0..<500 {
            let nanoseconds = Int64.random(in: 0..<10_000, using: &random)
            let token = heap.insert(at: MonotonicInstant(nanoseconds: nanoseconds)) {}
            if Bool.random(using: &random) {
                let isRemoved = heap.remove(token)
                #expect(isRemoved)
            } else {
                expected.append(nanoseconds)
            }
        }
        var popped: [Int64] = []
        while let earliest = heap.earliest {
            popped.append(earliest.nanoseconds)
            let body = heap.popDue(by: earliest, setBefore: .max)
            #expect(body != nil)
        }
        #expect(popped == expected.sorted())
    }

    @Test("a cancelled sleeper wakes at once with a cancellation")
    func cancelledSleep() async throws {
        let loop = try EventLoop.start(name: "sleep")
        let task = Task { try await loop.sleep(until: .now().advanced(by: .seconds(3_600))) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        loop.stop()
    }

    @Test("a sleeper does not outlast the loop")
    func stoppedSleep() async throws {
        let loop = try EventLoop.start(name: "sleep")
        let asleep = Mailbox<Bool>()
        let task = Task(executorPreference: loop) {
            asleep.post(true)
            try await loop.sleep(until: .now().advanced(by: .seconds(3_600)))
        }
        _ = try await asleep.next()
        loop.stop()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

private func again(_ loop: EventLoop) {
    _ = loop.schedule(at: .now()) { again(loop) }
}
