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
