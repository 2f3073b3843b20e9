// SPDX-License-Identifier: Apache-2.0
import Glibc
import Lifecycle
import NativeSystem
import TestSupport
import Testing

/// Each in a process of its own: signals are a process's.
@Suite struct OperatorSignalsTests {
    @Test("the first SIGTERM asks to drain, and a SIGINT after it ends")
    func secondSignal() async {
        await #expect(processExitsWith: .exitCode(130)) {
            let signals = try OperatorSignals { _ in exit(130) }
            kill(getpid(), SIGTERM)
            guard await signals.drainRequest() == .terminate else { exit(1) }
            kill(getpid(), SIGINT)
            _ = try await Mailbox<Void>().next()
        }
    }

    @Test("SIGHUP asks to reload and nothing else, and after the end signals have their default effect")
    func reload() async {
        await #expect(processExitsWith: .signal(SIGTERM)) {
            let signals = try OperatorSignals { _ in exit(1) }
            for _ in 0..<3 {
                kill(getpid(), SIGHUP)
                var reloads = signals.reloadRequests.makeAsyncIterator()
                guard await reloads.next() != nil else { exit(2) }
            }
            signals.stop()
            guard await signals.drainRequest() == nil else { exit(3) }
            kill(getpid(), SIGTERM)
            _ = try await Mailbox<Void>().next()
        }
    }
}
