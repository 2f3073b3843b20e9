// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A file whose room on disk is taken beforehand, so that a full disk does not stop what is written into it later. It is
/// readable by its owner only, and this process holds its lock (flock(2)) until it is closed.
package struct PreallocatedFile: ~Copyable, Sendable {
    private let descriptor: Int32
    /// Bytes.
    package private(set) var size: Int

    /// Makes or opens the file, takes its lock and the room for it.
    /// - Parameter size: bytes at least.
    /// - Throws: `EWOULDBLOCK` where another process holds the lock; `ENOSPC` where the disk has no room.
    package init(at path: String, size: Int) throws(SystemCallError) {
        let (descriptor, present) = try makeLocked(path)
        do throws(SystemCallError) { try allocate(descriptor, size) } catch {
            _ = close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        self.size = max(size, present)
    }

    /// Opens a file that is there and takes its lock; its size stays as it is.
    /// - Throws: `ENOENT` where there is none, or it was removed meanwhile; `EWOULDBLOCK` where another process holds the
    ///   lock.
    package init(existingAt path: String) throws(SystemCallError) {
        (descriptor, size) = try openLocked(path, O_RDWR)
    }

    deinit { _ = close(descriptor) }

    /// Takes more room.
    package mutating func grow(to wanted: Int) throws(SystemCallError) {
        try allocate(descriptor, wanted)
        size = max(size, wanted)
    }

    /// Writes all bytes at that place, within the room there is.
    package func write(_ bytes: [UInt8], at offset: Int) throws(SystemCallError) {
        precondition(offset >= 0 && offset + bytes.count <= size, "a write beyond the room that was taken")
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe pwrite(
                    descriptor, buffer.baseAddress.map { unsafe $0 + written }, bytes.count - written,
                    off_t(offset + written))
            }
            if count < 0 {
                guard errno == EINTR else { throw .last("pwrite") }
                continue
            }
            written += count
        }
    }

    /// Returns when what was written is on disk (fdatasync(2)).
    package func sync() throws(SystemCallError) {
        guard fdatasync(descriptor) == 0 else { throw .last("fdatasync") }
    }

    /// The whole file.
    package func contents() throws(SystemCallError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size)
        var read = 0
        while read < size {
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe pread(descriptor, buffer.baseAddress.map { unsafe $0 + read }, size - read, off_t(read))
            }
            if count < 0 {
                guard errno == EINTR else { throw .last("pread") }
                continue
            }
            if count == 0 { break }
            read += count
        }
        return Array(bytes[..<read])
    }
}

/// As ``openLocked(_:_:)``, for a file that is made: between its making and its lock, somebody who looks for what ended
/// processes have left may hold it for as long as reading it takes, and remove it. Tried for a second.
private func makeLocked(_ path: String) throws(SystemCallError) -> (Int32, Int) {
    var tries = 0
    while true {
        do throws(SystemCallError) { return try openLocked(path, O_RDWR | O_CREAT) } catch {
            tries += 1
            guard error.code == EWOULDBLOCK || error.code == ENOENT, tries < 500 else { throw error }
            usleep(2000)
        }
    }
}

/// The file's descriptor, locked, and its size in bytes.
private func openLocked(_ path: String, _ flags: Int32) throws(SystemCallError) -> (Int32, Int) {
    let descriptor = unsafe open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .last("open") }
    do throws(SystemCallError) {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw .last("flock") }
        // Somebody may have removed it between the opening and the lock.
        guard try FileIdentity(ofDescriptor: descriptor) == FileIdentity.ofFile(at: path) else {
            throw SystemCallError("open", code: ENOENT)
        }
        let end = lseek(descriptor, 0, SEEK_END)
        guard end >= 0 else { throw .last("lseek") }
        return (descriptor, Int(end))
    } catch {
        _ = close(descriptor)
        throw error
    }
}

private func allocate(_ descriptor: Int32, _ size: Int) throws(SystemCallError) {
    let code = posix_fallocate(descriptor, 0, off_t(size))
    guard code == 0 else { throw SystemCallError("posix_fallocate", code: code) }
}
