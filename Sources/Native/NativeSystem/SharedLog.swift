// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Appends to a file that several processes append to, and returns when the bytes are on the disk (fsync(2)). The file is
/// made where there is none, for its owner alone.
///
/// One write(2) in append mode; a shared lock (flock(2)) keeps ``rewriteShared(fileAt:_:)`` off meanwhile. A full disk or
/// a crash may leave the beginning of the bytes: whoever reads the file must know a piece from a whole.
/// - Throws: `SystemCallError`; `EWOULDBLOCK` where the file is rewritten for longer than a second.
package func appendShared(_ bytes: [UInt8], toFileAt path: String) throws(SystemCallError) {
    for _ in 0..<1000 {
        let descriptor = unsafe open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .last("open") }
        defer { _ = close(descriptor) }
        if flock(descriptor, LOCK_SH | LOCK_NB) == 0 {
            // Rewritten between the opening and the lock: what is appended to the old file would be lost.
            guard try FileIdentity(ofDescriptor: descriptor) == FileIdentity.ofFile(at: path) else { continue }
            return try append(bytes, to: descriptor, in: folder(of: path))
        }
        guard errno == EWOULDBLOCK || errno == EINTR else { throw .last("flock") }
        usleep(1000)
    }
    throw SystemCallError("flock", code: EWOULDBLOCK)
}

/// Puts other content in the place of a shared file, unless somebody appends to it right now.
/// - Parameter content: what shall stand there instead of these bytes; nil leaves them.
/// - Returns: whether it was rewritten.
@discardableResult
package func rewriteShared(
    fileAt path: String, _ content: ([UInt8]) -> [UInt8]?
) throws(SystemCallError) -> Bool {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    if descriptor < 0, errno == ENOENT { return false }
    guard descriptor >= 0 else { throw .last("open") }
    defer { _ = close(descriptor) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        guard errno == EWOULDBLOCK else { throw .last("flock") }
        return false
    }
    guard try FileIdentity(ofDescriptor: descriptor) == FileIdentity.ofFile(at: path) else { return false }
    guard let read = try? readFile(at: path, limit: .max), let next = content(read.bytes) else { return false }
    do throws(FileWritingFailure) { try replaceFile(next, at: path, permissions: 0o600) } catch {
        throw SystemCallError("rename", code: EIO)
    }
    return true
}

private func append(_ bytes: [UInt8], to descriptor: Int32, in folder: String) throws(SystemCallError) {
    let isNew = lseek(descriptor, 0, SEEK_END) == 0
    let count = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    guard count >= 0 else { throw .last("write") }
    guard count == bytes.count else { throw SystemCallError("write", code: ENOSPC) }
    guard fsync(descriptor) == 0 else { throw .last("fsync") }
    guard isNew else { return }
    let directory = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else { throw .last("open") }
    defer { _ = close(directory) }
    guard fsync(directory) == 0 else { throw .last("fsync") }
}
