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
    private let moving = Locked<RefreshProgress?>(nil)

    init(_ writer: LineWriter) { self.writer = writer }

    func write(_ line: [UInt8]) -> Bool {
        moving.withLock { moving in
            guard let moving else { return writer.append(line) }
            let away = RefreshProgress.erasing(moving.line.utf8.count)
            return writer.append(Array(away.utf8) + line + Array(moving.overwriting(0).utf8))
        }
    }

    /// Puts this progress in the place of the one before.
    func show(_ progress: RefreshProgress) {
        moving.withLock { moving in
            let width = moving?.line.utf8.count ?? 0
            if writer.append(Array(progress.overwriting(width).utf8)) { moving = progress }
        }
    }

    /// Takes the progress away; the terminal shows it when this returns, unless it is held for seconds. Blocks.
    func erase() {
        moving.withLock { moving in
            _ = writer.append(Array(RefreshProgress.erasing(moving?.line.utf8.count ?? 0).utf8))
            moving = nil
        }
        writer.flush(within: .seconds(2))
    }

    func flush(within limit: Duration) { writer.flush(within: limit) }
}
