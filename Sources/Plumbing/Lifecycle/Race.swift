// SPDX-License-Identifier: Apache-2.0
internal import NativeSystem

/// The first of several results; those that come later are dropped.
final class Race: Sendable {
    private enum State: Sendable {
        case open
        case awaited(CheckedContinuation<Bool, Never>)
        case ended(Bool)
    }

    private let state = Locked(State.open)

    func end(_ result: Bool) {
        let waiting: CheckedContinuation<Bool, Never>? = state.withLock { state in
            switch state {
            case .open:
                state = .ended(result)
                return nil
            case .awaited(let continuation):
                state = .ended(result)
                return continuation
            case .ended:
                return nil
            }
        }
        waiting?.resume(returning: result)
    }

    /// To be asked once.
    func result() async -> Bool {
        await withCheckedContinuation { continuation in
            let result: Bool? = state.withLock { state in
                if case .ended(let result) = state { return result }
                state = .awaited(continuation)
                return nil
            }
            if let result { continuation.resume(returning: result) }
        }
    }
}
