// SPDX-License-Identifier: Apache-2.0
package import NativeSystem

/// One task asleep on a loop; finished once, by its timer, by its task's cancellation or by the loop's end.
final class Sleeper: Sendable {
    enum End: Sendable {
        case elapsed
        case cancelled
    }

    private enum Phase: Sendable {
        case new
        case waiting(CheckedContinuation<End, Never>)
        case ended(End)
    }

    private let phase = Locked(Phase.new)

    /// False where it was ended before it fell asleep; the continuation has then been resumed.
    func wait(_ continuation: CheckedContinuation<End, Never>) -> Bool {
        let end: End? = phase.withLock { phase in
            if case .ended(let end) = phase { return end }
            phase = .waiting(continuation)
            return nil
        }
        guard let end else { return true }
        continuation.resume(returning: end)
        return false
    }

    var hasEnded: Bool {
        phase.withLock { if case .ended = $0 { true } else { false } }
    }

    /// Wakes the task; the first end counts.
    func finish(_ end: End) {
        let continuation: CheckedContinuation<End, Never>? = phase.withLock { phase in
            defer { if case .ended = phase {} else { phase = .ended(end) } }
            guard case .waiting(let continuation) = phase else { return nil }
            return continuation
        }
        continuation?.resume(returning: end)
    }
}

extension EventLoop {
    /// Suspends the task until `deadline`, from any thread; a millisecond late at most, never early.
    ///
    /// - Throws: `CancellationError` once the task is cancelled or the loop stops.
    package func sleep(until deadline: MonotonicInstant) async throws(CancellationError) {
        let sleeper = Sleeper()
        let end = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard sleeper.wait(continuation) else { return }
                onLoop { self.begin(sleeper, until: deadline) }
            }
        } onCancel: {
            sleeper.finish(.cancelled)
            execute { self.end(sleeper) }
        }
        if end == .cancelled { throw CancellationError() }
    }

    /// Now where the caller is on the loop, else handed in.
    private func onLoop(_ body: @escaping @Sendable () -> Void) {
        if isCurrent { body() } else { execute(body) }
    }
}
