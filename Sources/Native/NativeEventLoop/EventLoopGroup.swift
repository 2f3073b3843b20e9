// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The loops of a process, one a core.
package final class EventLoopGroup: Sendable {
    package let loops: [EventLoop]
    private let turn = Atomic<Int>(0)

    private init(_ loops: [EventLoop]) {
        self.loops = loops
    }

    /// `count` running loops, at least one, named `name-0`, `name-1` …
    ///
    /// - Throws: what the first loop that could not be started says; those before it are stopped again.
    package static func start(name: String, count: Int) throws(EventLoopError) -> EventLoopGroup {
        var loops: [EventLoop] = []
        do throws(EventLoopError) {
            for index in 0..<max(1, count) {
                loops.append(try EventLoop.start(name: "\(name)-\(index)"))
            }
        } catch {
            for loop in loops { loop.stop() }
            throw error
        }
        return EventLoopGroup(loops)
    }

    /// Round robin, from any thread.
    package func next() -> EventLoop {
        let number = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        return loops[Int(UInt(bitPattern: number) % UInt(loops.count))]
    }

    /// The loop that the caller is on.
    package var current: EventLoop? {
        loops.first { $0.isCurrent }
    }

    /// Stops every loop in turn; see `EventLoop.stop()`.
    package func stop() {
        for loop in loops { loop.stop() }
    }
}
