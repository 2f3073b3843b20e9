// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeSystem

/// Whether writes get through, by what the writer has seen last: a full disk and a held lock are known from the work
/// itself, and only where nothing was written of late somebody has to try.
final class WriteHealth: Sendable {
    enum Verdict: Sendable, Equatable {
        case good, bad
        /// What was seen is too old to go by.
        case unknown
    }

    private struct Sighting {
        var isGood: Bool
        /// Monotonic.
        var at: Duration
    }

    private struct State {
        var last: Sighting?
        /// A write of the batch under way was refused by the disk, though the batch may still be committed without it.
        var isSuspect = false
    }

    /// How long a commit vouches for the next one.
    private static let goodFor = Duration.seconds(5)
    /// How long a failure spares the next try: whoever asks again and again does not write as often.
    private static let badFor = Duration.seconds(1)

    private let time: any Timekeeper
    private let state = Locked(State())

    init(time: any Timekeeper) { self.time = time }

    /// A batch was committed, or could not be begun or committed.
    func saw(isGood: Bool) {
        let now = time.monotonic
        state.withLock { state in
            state.last = Sighting(isGood: isGood && !state.isSuspect, at: now)
            state.isSuspect = false
        }
    }

    /// One write of a batch failed; a rule of the schema says nothing of the disk.
    func saw(_ failure: StoreFailure) {
        switch failure {
        case .retryLater, .outOfReach: state.withLock { $0.isSuspect = true }
        default: break
        }
    }

    /// Whether a write that failed so leaves writes good: a rule of the schema says nothing of the disk.
    func isGood(after failure: StoreFailure) -> Bool {
        switch failure {
        case .retryLater, .outOfReach: false
        default: true
        }
    }

    var verdict: Verdict {
        let now = time.monotonic
        return state.withLock { state in
            guard let last = state.last else { return .unknown }
            let age = now - last.at
            if last.isGood { return age < WriteHealth.goodFor ? .good : .unknown }
            return age < WriteHealth.badFor ? .bad : .unknown
        }
    }
}
