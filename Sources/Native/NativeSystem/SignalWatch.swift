// SPDX-License-Identifier: Apache-2.0
internal import CLinux
internal import Glibc

/// The signals that this program answers to.
package enum ProcessSignal: Int32, Sendable, CaseIterable {
    case hangup = 1
    case interrupt = 2
    case terminate = 15

    /// As people write it, such as `SIGTERM`.
    package var name: String {
        switch self {
        case .hangup: "SIGHUP"
        case .interrupt: "SIGINT"
        case .terminate: "SIGTERM"
        }
    }
}

/// Hands on each signal as it comes, in order, on a thread of its own, whichever thread the kernel gave it to.
///
/// There is one a process at a time: a signal handler can know nothing but globals. Until `stop()` the signals do not
/// end the process.
package final class SignalWatch: Sendable {
    private let signals: [ProcessSignal]
    private let writing: Int32
    private let isRunning = Locked(true)

    /// - Throws: `SystemCallError`; `EBUSY` while another one is running.
    package init(
        _ signals: [ProcessSignal], handler: @escaping @Sendable (ProcessSignal) -> Void
    ) throws(SystemCallError) {
        let (reading, writing) = try makeSignalPipe()
        self.signals = signals
        self.writing = writing
        guard clinux_watch_signals(writing) == 0 else {
            let error = SystemCallError.last("sigaction")
            for end in [reading, writing] { _ = close(end) }
            throw error
        }
        try startThread(named: "signals") { handOn(from: reading, to: handler) }
        for signal in signals where clinux_catch_signal(signal.rawValue, true) != 0 { throw .last("sigaction") }
    }

    /// Gives the signals their default effect back and ends the thread; a second call does nothing.
    package func stop() {
        let wasRunning = isRunning.withLock { running in
            defer { running = false }
            return running
        }
        guard wasRunning else { return }
        for signal in signals { _ = clinux_catch_signal(signal.rawValue, false) }
        clinux_unwatch_signals()
        _ = close(writing)
    }
}

/// Broken pipes answer `EPIPE` from now on instead of ending the process. For a server; a command that prints into
/// `head` should end.
package func ignoreBrokenPipes() throws(SystemCallError) {
    guard clinux_ignore_broken_pipes() == 0 else { throw .last("signal") }
}

/// The writing end never blocks: a handler must not wait.
private func makeSignalPipe() throws(SystemCallError) -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw .last("pipe") }
    for end in ends where fcntl(end, F_SETFD, FD_CLOEXEC) != 0 { throw .last("fcntl") }
    guard fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0 else { throw .last("fcntl") }
    return (ends[0], ends[1])
}

/// Ends when the writing end is closed.
private func handOn(from descriptor: Int32, to handler: (ProcessSignal) -> Void) {
    var number: UInt8 = 0
    while true {
        let count = unsafe read(descriptor, &number, 1)
        if count == 1 {
            if let signal = ProcessSignal(rawValue: Int32(number)) { handler(signal) }
        } else if count == 0 || errno != EINTR {
            break
        }
    }
    _ = close(descriptor)
}
