// SPDX-License-Identifier: Apache-2.0
import NativeSystem

/// The signals of one command: the first that asks for an end begins a drain, the second ends it.
final class Signals: Sendable {
    private let watch: SignalWatch
    private let stream: AsyncStream<ProcessSignal>
    private let ends: Locked<Int>

    init() throws(SystemCallError) {
        let (stream, continuation) = AsyncStream<ProcessSignal>.makeStream()
        let ends = Locked(0)
        watch = try SignalWatch(ProcessSignal.allCases) { signal in
            if signal != .hangup { ends.withLock { $0 += 1 } }
            continuation.yield(signal)
        }
        self.stream = stream
        self.ends = ends
    }

    /// Whether a second one has come.
    var isUrgent: Bool { ends.withLock { $0 >= 2 } }

    /// Returns at the first SIGTERM or SIGINT; calls `reload` at each SIGHUP before that.
    func waitForEnd(onHangup reload: @Sendable () async -> Void) async -> ProcessSignal {
        for await signal in stream {
            if signal != .hangup { return signal }
            await reload()
        }
        return .terminate
    }

    func stop() { watch.stop() }
}
