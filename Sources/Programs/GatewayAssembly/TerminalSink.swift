// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import NativeSystem
import Observability

/// Standard error where a person watches it: log lines, and below them the progress, which is written over again. A log
/// line takes the progress away and puts it back below itself, so that neither stands in the other.
///
/// All of it goes through one writer with a thread of its own: a terminal that is held (Ctrl-S) holds nobody else.
final class TerminalSink: LogSink {
    private let writer: LineWriter
    /// What stands in the terminal's last line.
    private let moving = Locked<String?>(nil)

    init(_ writer: LineWriter) { self.writer = writer }

    func write(_ line: [UInt8]) -> Bool {
        moving.withLock { moving in
            guard let moving else { return writer.append(line) }
            let away = RefreshProgress.erasing(moving.utf8.count)
            return writer.append(Array(away.utf8) + line + Array(RefreshProgress.overwriting(0, with: moving).utf8))
        }
    }

    /// Puts this progress in the place of the one before.
    func show(_ progress: RefreshProgress) { show(line: progress.line) }

    /// Puts this line, of ASCII, in the place of the one before.
    func show(line: String) {
        moving.withLock { moving in
            let over = RefreshProgress.overwriting(moving?.utf8.count ?? 0, with: line)
            if writer.append(Array(over.utf8)) { moving = line }
        }
    }

    /// Takes the progress away; the terminal shows it when this returns, unless it is held for seconds. Blocks.
    func erase() {
        moving.withLock { moving in
            _ = writer.append(Array(RefreshProgress.erasing(moving?.utf8.count ?? 0).utf8))
            moving = nil
        }
        writer.flush(within: .seconds(2))
    }

    func flush(within limit: Duration) { writer.flush(within: limit) }
}
