// SPDX-License-Identifier: Apache-2.0
/// Where the texts and blobs lie that are bound to one statement: they stay in place until its next use, and SQLite need
/// not allocate a copy of each.
@safe final class BoundBytes {
    private static let blockSize = 4096
    private var block = UnsafeMutableRawBufferPointer.allocate(byteCount: blockSize, alignment: 1)
    private var used = 0
    /// Blocks that were too small for what came next; statements may still point into them.
    private var full: [UnsafeMutableRawBufferPointer] = unsafe []

    deinit {
        freeFull()
        unsafe block.deallocate()
    }

    /// Forgets what was kept. Nothing may be bound to it any more.
    func startOver() {
        freeFull()
        used = 0
    }

    /// Copies the bytes to where they stay until `startOver`. The address is never null, which would bind NULL.
    func keep(_ bytes: UnsafeRawBufferPointer) -> (start: UnsafeRawPointer, count: Int) {
        if unsafe block.count - used < bytes.count {
            unsafe full.append(block)
            let size = unsafe max(2 * block.count, bytes.count)
            unsafe block = .allocate(byteCount: size, alignment: 1)
            used = 0
        }
        guard let base = unsafe block.baseAddress else { preconditionFailure("an empty block") }
        let place = unsafe base + used
        if let start = bytes.baseAddress { unsafe place.copyMemory(from: start, byteCount: bytes.count) }
        used += bytes.count
        return (UnsafeRawPointer(place), bytes.count)
    }

    private func freeFull() {
        guard unsafe !full.isEmpty else { return }
        for index in unsafe full.indices { unsafe full[index].deallocate() }
        unsafe full = []
    }
}
