// SPDX-License-Identifier: Apache-2.0
package import NativeSystem

/// Where log lines go.
package protocol LogSink: Sendable {
    /// Takes a line, which ends with a line feed, and returns at once.
    /// - Returns: false where the line was lost.
    func write(_ line: [UInt8]) -> Bool
    /// Waits until all lines are out, at most `limit`; blocks the thread. For the end of the program.
    func flush(within limit: Duration)
}

/// Standard error, written from a thread of its own; a reader that stops reading costs lines, not requests.
package struct StandardErrorSink: LogSink {
    private let writer: LineWriter

    /// - Throws: `SystemCallError` where no thread can be had.
    package init() throws(SystemCallError) {
        writer = try LineWriter(descriptor: 2, capacity: 4 << 20)
    }

    package func write(_ line: [UInt8]) -> Bool { writer.append(line) }

    package func flush(within limit: Duration) { writer.flush(within: limit) }
}

/// Lines kept in memory, for tests.
package final class MemorySink: LogSink {
    private let kept = Locked<[UInt8]>([])

    package init() {}

    package func write(_ line: [UInt8]) -> Bool {
        kept.withLock { $0 += line }
        return true
    }

    /// They are out as soon as they are written.
    package func flush(within limit: Duration) {}

    /// Everything that was written.
    package var text: String { String(decoding: kept.withLock { $0 }, as: UTF8.self) }

    /// The lines that were written, without their line feeds.
    package var lines: [String] { text.split(separator: "\n").map(String.init) }
}
