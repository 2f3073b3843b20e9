// SPDX-License-Identifier: Apache-2.0
internal import CLinux
internal import Glibc

/// A small regular file as it was read, with who may read it.
package struct FileContents: Sendable {
    package var bytes: [UInt8]
    /// Permission bits, such as `0o600`.
    package var permissions: UInt32
    /// Numeric owner.
    package var owner: UInt32
}

/// Why a file was not read.
package enum FileReadingFailure: Error, Sendable, Equatable {
    case notFound
    case notPermitted
    /// A folder, a device or a pipe.
    case notRegular
    /// More bytes than the limit.
    case tooLarge(limit: Int)
    /// Any other `errno`.
    case failed(code: Int32)

    /// What it says to a person, without the path.
    package var sentence: String {
        switch self {
        case .notFound: "no such file"
        case .notPermitted: "not permitted to read it"
        case .notRegular: "not a regular file"
        case .tooLarge(let limit): "larger than \(limit) bytes"
        case .failed(let code): systemErrorSentence(code)
        }
    }
}

/// Reads a whole regular file of at most `limit` bytes.
///
/// It is opened without waiting (`O_NONBLOCK`), so that a pipe put in its place cannot hold the start.
/// - Parameter path: absolute, or from the working folder; without a NUL.
/// - Throws: ``FileReadingFailure``; `tooLarge` as soon as one byte more than `limit` was seen.
package func readFile(at path: String, limit: Int) throws(FileReadingFailure) -> FileContents {
    try readFile(at: path, limit: limit, flags: 0)
}

/// A regular file's first bytes: `count` of them, or all there are.
/// - Throws: ``FileReadingFailure``.
package func readBeginning(ofFileAt path: String, count: Int) throws(FileReadingFailure) -> [UInt8] {
    let descriptor = try openRegular(path, 0).descriptor
    defer { _ = close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
        let more = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe pread(descriptor, buffer.baseAddress.map { unsafe $0 + filled }, count - filled, off_t(filled))
        }
        if more == 0 { break }
        if more < 0 {
            if errno == EINTR { continue }
            throw failure(of: errno)
        }
        filled += more
    }
    return Array(bytes[..<filled])
}

/// What the standard input holds, to its end.
/// - Throws: ``FileReadingFailure`` where it is larger than `limit` bytes or cannot be read.
package func readStandardInput(limit: Int) throws(FileReadingFailure) -> [UInt8] { try readToEnd(0, limit: limit) }

/// - Parameter flags: more for open(2), such as `O_NOFOLLOW`.
func readFile(at path: String, limit: Int, flags: Int32) throws(FileReadingFailure) -> FileContents {
    let (descriptor, status) = try openRegular(path, flags)
    defer { _ = close(descriptor) }
    let bytes = try readToEnd(descriptor, limit: limit)
    return FileContents(bytes: bytes, permissions: status.st_mode & 0o7777, owner: status.st_uid)
}

/// The text of an `errno`, such as `Permission denied`.
package func systemErrorSentence(_ code: Int32) -> String {
    var buffer = [CChar](repeating: 0, count: 128)
    guard unsafe strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
    return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}

private func openRegular(_ path: String, _ flags: Int32) throws(FileReadingFailure) -> (
    descriptor: Int32, status: stat
) {
    let descriptor = openForReading(path, flags)
    guard descriptor >= 0 else { throw failure(of: errno) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else {
        let code = errno
        _ = close(descriptor)
        throw failure(of: code)
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
        _ = close(descriptor)
        throw .notRegular
    }
    return (descriptor, status)
}

private func openForReading(_ path: String, _ flags: Int32) -> Int32 {
    unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags)
}

private func readToEnd(_ descriptor: Int32, limit: Int) throws(FileReadingFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16384)
    while true {
        let count = unsafe read(descriptor, &chunk, chunk.count)
        if count == 0 { return bytes }
        if count < 0 {
            if errno == EINTR { continue }
            throw failure(of: errno)
        }
        guard bytes.count + count <= limit else { throw .tooLarge(limit: limit) }
        bytes += chunk[..<count]
    }
}

private func failure(of code: Int32) -> FileReadingFailure {
    switch code {
    case ENOENT, ENOTDIR: .notFound
    case EACCES, EPERM: .notPermitted
    case EISDIR: .notRegular
    default: .failed(code: code)
    }
}
