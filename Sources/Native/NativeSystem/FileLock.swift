// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// An exclusive lock on a file (flock(2)), which the kernel drops when the process dies, however it dies.
///
/// The lock belongs to this open file description: another opening of the same file, in this process too, does not
/// have it. No child gets it (`O_CLOEXEC`).
package struct FileLock: ~Copyable, Sendable {
    package enum State: Sendable, Equatable {
        /// No such file.
        case absent
        /// The file is there and nobody holds it.
        case free
        case held
    }

    private let descriptor: Int32

    /// Makes the file, readable by its owner only, and waits for its lock.
    package init(at path: String) throws(SystemCallError) {
        while true {
            let descriptor = try openLockFile(path, O_RDWR | O_CREAT)
            do {
                try lock(descriptor, LOCK_EX)
                if try FileIdentity(ofDescriptor: descriptor) == FileIdentity.ofFile(at: path) {
                    self.descriptor = descriptor
                    return
                }
            } catch {
                _ = close(descriptor)
                throw error
            }
            // Somebody removed it between the opening and the lock: a lock on a nameless file protects nothing.
            _ = close(descriptor)
        }
    }

    deinit { _ = close(descriptor) }

    /// Whether somebody holds the file's lock. Asking takes a shared lock for a moment, which no other asker sees.
    package static func state(ofFileAt path: String) throws(SystemCallError) -> State {
        try probe(path, LOCK_SH) { () throws(SystemCallError) in }
    }

    /// Removes the file if nobody holds its lock; it is held here while it is removed.
    package static func removeIfFree(at path: String) throws(SystemCallError) {
        _ = try probe(path, LOCK_EX) { () throws(SystemCallError) in
            guard unsafe unlink(path) == 0 || errno == ENOENT else { throw .last("unlink") }
        }
    }

    private static func probe(
        _ path: String, _ kind: Int32, _ whenFree: () throws(SystemCallError) -> Void
    ) throws(SystemCallError) -> State {
        let descriptor: Int32
        do { descriptor = try openLockFile(path, O_RDWR) } catch  where error.code == ENOENT { return .absent }
        defer { _ = close(descriptor) }
        do { try lock(descriptor, kind | LOCK_NB) } catch  where error.code == EWOULDBLOCK { return .held }
        try whenFree()
        return .free
    }
}

private func openLockFile(_ path: String, _ flags: Int32) throws(SystemCallError) -> Int32 {
    let descriptor = unsafe open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .last("open") }
    return descriptor
}

private func lock(_ descriptor: Int32, _ operation: Int32) throws(SystemCallError) {
    while flock(descriptor, operation) != 0 {
        guard errno == EINTR else { throw .last("flock") }
    }
}
