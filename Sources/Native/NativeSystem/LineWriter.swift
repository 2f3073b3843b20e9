// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Writes whole lines to a descriptor from a thread of its own, so that a slow reader holds up nobody who logs.
///
/// A line waits up to five milliseconds for others: waking the thread for each costs whoever logs more than making it.
/// Lines that wait are written together, in one write(2) for as many as fit into `PIPE_BUF` (4,096 bytes): what others
/// write to the same pipe never lands inside a line. What the descriptor refuses is dropped.
package final class LineWriter: Sendable {
    private struct State: Sendable {
        var waiting: [UInt8] = []
        var isWriting = false
        var isStopping = false
        var hasEnded = false
    }

    private let state = Monitor(State())
    private let descriptor: Int32
    private let capacity: Int

    /// - Parameters:
    ///   - descriptor: stays the caller's; it must outlive the writer.
    ///   - capacity: most bytes that may wait.
    /// - Throws: `SystemCallError` where no thread can be had.
    package init(descriptor: Int32, capacity: Int) throws(SystemCallError) {
        self.descriptor = descriptor
        self.capacity = capacity
        try startThread(named: "lines") { [self] in run() }
    }

    /// Takes a line, which ends with a line feed, and returns at once.
    /// - Returns: false where too much waits already or the writer was stopped; then the line is lost.
    package func append(_ line: [UInt8]) -> Bool {
        state.change { state in
            guard !state.isStopping, state.waiting.count + line.count <= capacity else { return false }
            state.waiting += line
            return true
        }
    }

    /// Waits until what was taken so far has been written; blocks the thread.
    /// - Returns: false when the time was over first.
    @discardableResult
    package func flush(within limit: Duration) -> Bool {
        state.wait(until: .now().advanced(by: limit)) { $0.waiting.isEmpty && !$0.isWriting ? true : nil } ?? false
    }

    /// Takes no more lines, writes those that wait and ends the thread; blocks the caller's until then.
    /// - Returns: false when the time was over first; the thread then ends with its last write.
    @discardableResult
    package func stop(within limit: Duration) -> Bool {
        state.change { $0.isStopping = true }
        return state.wait(until: .now().advanced(by: limit)) { $0.hasEnded ? true : nil } ?? false
    }

    private func run() {
        var batch: [UInt8] = []
        while takeNext(&batch) {
            var start = 0
            while start < batch.count {
                let end = Self.end(of: batch, from: start)
                write(batch[start..<end])
                start = end
            }
            state.change { $0.isWriting = false }
        }
        state.change { $0.hasEnded = true }
    }

    /// What a batch may take up once it is written; nearly all are shorter.
    private static let keptCapacity = 64 << 10

    /// Hands the memory of the batch that was written back to whoever appends.
    /// - Returns: false when there is nothing left and the writer was stopped.
    private func takeNext(_ batch: inout [UInt8]) -> Bool {
        batch.removeAll(keepingCapacity: batch.capacity <= LineWriter.keptCapacity)
        let isStopping = state.wait(until: nil) { state -> Bool? in
            state.waiting.isEmpty && !state.isStopping ? nil : state.isStopping
        }
        // Nobody's change wakes a thread that naps: that is what it is for.
        if isStopping == false { usleep(5000) }
        return state.wait(until: nil) { state -> Bool? in
            guard !state.waiting.isEmpty else { return state.isStopping ? false : nil }
            swap(&state.waiting, &batch)
            state.isWriting = true
            return true
        } ?? false
    }

    /// The end of the last whole line within 4,096 bytes, or of the first line where that is longer.
    private static func end(of batch: [UInt8], from start: Int) -> Int {
        if batch.count - start <= 4096 { return batch.count }
        if let last = batch[start..<(start + 4096)].lastIndex(of: 0x0A) { return last + 1 }
        return (batch[start...].firstIndex(of: 0x0A) ?? batch.count - 1) + 1
    }

    private func write(_ lines: ArraySlice<UInt8>) {
        var left = lines
        while !left.isEmpty {
            let count = unsafe left.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                left = left.dropFirst(count)
            } else if errno == EAGAIN {
                var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&entry, 1, 1000)
            } else if errno != EINTR {
                return
            }
        }
    }
}
