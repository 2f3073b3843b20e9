// SPDX-License-Identifier: Apache-2.0

/// A thing for a loop to run: a Swift job, or a plain closure.
enum Work: Sendable {
    case job(UnownedJob)
    case body(@Sendable () -> Void)
}

/// What other threads hand to a loop; lives behind a lock and is swapped out whole.
struct Inbox: Sendable {
    enum Phase: Sendable {
        case running
        /// Asked to stop; what comes is still run.
        case stopping
        /// The thread has ended; what comes is dropped.
        case stopped
    }

    var work: [Work] = []
    var phase = Phase.running

    /// Ends the taking of work, unless there is some left to run.
    mutating func closeIfEmpty() -> Bool {
        guard work.isEmpty else { return false }
        phase = .stopped
        return true
    }
}
