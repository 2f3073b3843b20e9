// SPDX-License-Identifier: Apache-2.0
import Lifecycle
import NativeSystem

/// A service that tells what is asked of it and is done when its gates are open.
struct RecordedService: Service {
    struct Failure: Error {}

    let name: String
    let journal: Journal
    let isFailing: Bool
    let draining: Gate?
    let stopping: Gate?

    func start() async throws {
        journal.add("start \(name)")
        if isFailing { throw Failure() }
    }

    func drain() async {
        journal.add("drain \(name)")
        await draining?.waitStubbornly()
    }

    func stop() async {
        journal.add("stop \(name)")
        await stopping?.waitStubbornly()
    }
}

/// What happened, in order.
final class Journal: Sendable {
    private let kept = Locked<[String]>([])

    var lines: [String] { kept.withLock { $0 } }

    func add(_ line: String) {
        kept.withLock { $0.append(line) }
    }
}

/// Something to wait for that happens once.
final class Gate: Sendable {
    private let isOpen = Locked(false)

    func open() {
        isOpen.withLock { $0 = true }
    }

    /// Until it is open or the task is cancelled.
    func wait() async {
        while !isOpen.withLock({ $0 }), !Task.isCancelled { await Task.yield() }
    }

    /// Until it is open, whatever becomes of the task.
    func waitStubbornly() async {
        while !isOpen.withLock({ $0 }) { await Task.yield() }
    }
}
