// SPDX-License-Identifier: Apache-2.0
import NativeSystem
import Observability
import TestSupport

/// A sink that takes nothing until it is opened.
final class NarrowSink: LogSink {
    private let kept: MemorySink
    private let isOpen = Locked(false)

    init(kept: MemorySink) {
        self.kept = kept
    }

    func open() {
        isOpen.withLock { $0 = true }
    }

    func flush(within limit: Duration) {}

    func write(_ line: [UInt8]) -> Bool {
        isOpen.withLock { $0 } && kept.write(line)
    }
}
