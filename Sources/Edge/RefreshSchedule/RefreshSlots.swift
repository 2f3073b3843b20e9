// SPDX-License-Identifier: Apache-2.0
internal import NativeSystem

/// So many background calls go at once, over all providers; who asks first goes first.
///
/// Behind a lock, for an actor would cost each call two changes of threads where nobody waits.
final class RefreshSlots: Sendable {
    private struct State: Sendable {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }
    private let state: Locked<State>

    init(_ count: Int) { state = Locked(State(free: max(1, count))) }

    func take() async {
        if take(orWait: nil) { return }
        await withCheckedContinuation { continuation in
            // One may have been given back since.
            if take(orWait: continuation) { continuation.resume() }
        }
    }

    /// Whether one was free.
    private func take(orWait waiter: CheckedContinuation<Void, Never>?) -> Bool {
        state.withLock { state in
            guard state.free == 0 else {
                state.free -= 1
                return true
            }
            if let waiter { state.waiting.append(waiter) }
            return false
        }
    }

    func giveBack() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            state.free += 1
            return nil
        }
        next?.resume()
    }

    /// How many one of `providers` may hold: one is left to each of the others, so that a slow one starves nobody.
    static func share(of concurrency: Int, among providers: Int) -> Int {
        max(1, concurrency - max(0, providers - 1))
    }
}
