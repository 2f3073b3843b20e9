// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeSystem
import TestSupport

/// Time that stands still until a test moves it.
final class ManualTime: Timekeeper {
    private struct State {
        var passed = Duration.zero
        var slept = Duration.zero
        var sleepers: [(until: Duration, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())
    /// One for each sleep that began.
    let sleeping = Mailbox<Void>()

    var now: Instant { Make.now.advanced(by: sinceBoot) }
    var monotonic: Duration { state.withLock { $0.passed } }
    var sinceBoot: Duration { state.withLock { $0.passed + $0.slept } }

    /// The machine sleeps: its monotonic clock stands still, and nobody wakes.
    func suspend(for duration: Duration) { state.withLock { $0.slept += duration } }

    func sleep(until end: Duration) async throws(CancellationError) {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if end <= state.passed { return true }
                state.sleepers.append((end, continuation))
                return false
            }
            if isOver { continuation.resume() }
            sleeping.post(())
        }
        if Task.isCancelled { throw CancellationError() }
    }

    /// Wakes everybody whose time has come; cancelled ones too.
    func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.passed += duration
            let woken = state.sleepers.filter { $0.until <= state.passed }
            state.sleepers.removeAll { $0.until <= state.passed }
            return woken
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }
}
