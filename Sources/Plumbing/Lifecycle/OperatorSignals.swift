// SPDX-License-Identifier: Apache-2.0
package import NativeSystem

/// What an operator tells the program by signals: the first SIGTERM or SIGINT asks it to drain, the second ends it;
/// SIGHUP asks it to read its secrets and certificates again.
package final class OperatorSignals: Sendable {
    /// Gives the signal that asked to drain, then nothing more until `stop()`.
    package let drainRequests: AsyncStream<ProcessSignal>
    /// One element for any number of SIGHUPs that came while the one before was being worked on.
    package let reloadRequests: AsyncStream<Void>
    private let watch: SignalWatch
    private let finish: @Sendable () -> Void

    /// - Parameter end: called on the signals' own thread by the second SIGTERM or SIGINT, whatever the rest of the
    ///   program does; it should end the process.
    /// - Throws: `SystemCallError`; `EBUSY` while signals are watched already.
    package init(end: @escaping @Sendable (ProcessSignal) -> Void) throws(SystemCallError) {
        let (drains, drain) = AsyncStream.makeStream(of: ProcessSignal.self, bufferingPolicy: .bufferingOldest(1))
        let (reloads, reload) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let isDraining = Locked(false)
        drainRequests = drains
        reloadRequests = reloads
        finish = {
            drain.finish()
            reload.finish()
        }
        watch = try SignalWatch(ProcessSignal.allCases) { signal in
            guard signal != .hangup else {
                reload.yield()
                return
            }
            let isSecond = isDraining.withLock { draining in
                defer { draining = true }
                return draining
            }
            if isSecond { end(signal) } else { drain.yield(signal) }
        }
    }

    /// Waits for the signal that asks to drain; nil after `stop()`, or when the task was cancelled.
    package func drainRequest() async -> ProcessSignal? {
        for await signal in drainRequests { return signal }
        return nil
    }

    /// Gives the signals their default effect back.
    package func stop() {
        watch.stop()
        finish()
    }
}
