// SPDX-License-Identifier: Apache-2.0
import NativeSystem

/// Holds whoever comes until it is opened.
final class Gate: Sendable {
    private struct State: Sendable {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    func passed() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

/// The condition did not come true in time.
struct NeverTrue: Error {}

/// Waits until `condition` holds, ten seconds at most.
func until(_ condition: () -> Bool) async throws {
    let deadline = MonotonicInstant.now().advanced(by: .seconds(10))
    while !condition() {
        guard MonotonicInstant.now() < deadline else { throw NeverTrue() }
        try await Task.sleep(for: .milliseconds(1))
    }
}
