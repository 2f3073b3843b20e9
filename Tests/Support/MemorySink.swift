// SPDX-License-Identifier: Apache-2.0
import NativeSystem
import Observability

/// Log lines kept in memory, and for ``Canary``.
package final class MemorySink: LogSink {
    private let kept = Locked<[UInt8]>([])

    package init() {}

    package func write(_ line: [UInt8]) -> Bool {
        kept.withLock { $0 += line }
        Canary.keep(line, in: .log)
        return true
    }

    /// They are out as soon as they are written.
    package func flush(within limit: Duration) {}

    /// Everything that was written.
    package var text: String { String(decoding: kept.withLock { $0 }, as: UTF8.self) }

    /// The lines that were written, without their line feeds.
    package var lines: [String] { text.split(separator: "\n").map(String.init) }
}
