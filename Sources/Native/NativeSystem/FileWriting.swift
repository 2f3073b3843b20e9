// SPDX-License-Identifier: Apache-2.0
internal import CLinux
internal import Glibc

/// Why a file was not written. What was there before is there still.
package enum FileWritingFailure: Error, Sendable, Equatable {
    /// There is something of that name, and it was not to be replaced.
    case exists
    case folderNotFound
    case notPermitted
    /// The disk or the user's share of it is full.
    case noSpace
    /// Any other `errno`.
    case failed(code: Int32)

    /// What it says to a person, without the path.
    package var sentence: String {
        switch self {
        case .exists: "it is there already and is not overwritten"
        case .folderNotFound: "its folder does not exist"
        case .notPermitted: "not permitted to write there"
        case .noSpace: "no space left"
        case .failed(let code): systemErrorSentence(code)
        }
    }

    fileprivate init(code: Int32) {
        self =
            switch code {
            case EEXIST: .exists
            case ENOENT, ENOTDIR: .folderNotFound
            case EACCES, EPERM, EROFS: .notPermitted
            case ENOSPC, EDQUOT: .noSpace
            default: .failed(code: code)
            }
    }
}

/// Writes a new file: it is there with all its bytes, on the disk, or not at all.
/// - Parameter permissions: exactly these, whatever the umask, such as `0o600`.
/// - Throws: ``FileWritingFailure``; `exists` where anything has the name, a dangling link included.
package func createFile(_ bytes: [UInt8], at path: String, permissions: UInt32) throws(FileWritingFailure) {
    try placeFile(bytes, at: path, permissions: permissions) { temporary, path in
        guard unsafe link(temporary, path) == 0 else { return errno }
        _ = unsafe unlink(temporary)
        return 0
    }
}

/// Puts a file in the place of another, or where there was none: readers see all of the old one or all of the new.
/// - Parameter permissions: exactly these, whatever the umask, such as `0o600`.
/// - Throws: ``FileWritingFailure``; `exists` for what is no file, such as `/dev/null`: a file would take its place.
package func replaceFile(_ bytes: [UInt8], at path: String, permissions: UInt32) throws(FileWritingFailure) {
    var status = stat()
    if unsafe stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG { throw .exists }
    try placeFile(bytes, at: path, permissions: permissions) { temporary, path in
        unsafe rename(temporary, path) == 0 ? 0 : errno
    }
}

/// Makes a folder and those above it that are not there; one that is there stays as it is.
/// - Throws: ``FileWritingFailure``; `exists` where a file has the name of one of them.
package func makeFolder(at path: String, permissions: UInt32) throws(FileWritingFailure) {
    let isAbsolute = path.hasPrefix("/")
    var reached = isAbsolute ? "/" : ""
    for part in path.split(separator: "/") {
        reached += reached.isEmpty || reached == "/" ? part : "/" + part
        if unsafe mkdir(reached, mode_t(permissions)) == 0 { continue }
        let code = errno
        guard isFolder(reached) else { throw FileWritingFailure(code: code) }
    }
}

/// The folder that a path's last part lies in: `.` where it names none.
package func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
}

private func isFolder(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
}

/// Writes and syncs a file beside `path`, lets `place` give it its name, and syncs the folder (fsync(2), *Notes*).
private func placeFile(
    _ bytes: [UInt8], at path: String, permissions: UInt32, _ place: (String, String) -> Int32
) throws(FileWritingFailure) {
    let folder = folder(of: path)
    let temporary = "\(folder)/.\(randomName()).new"
    let written = writeNew(bytes, at: temporary, permissions: permissions)
    guard written == 0 else { throw FileWritingFailure(code: written) }
    let placed = place(temporary, path)
    guard placed == 0 else {
        _ = unsafe unlink(temporary)
        throw FileWritingFailure(code: placed)
    }
    let synced = syncFolder(folder)
    guard synced == 0 else { throw FileWritingFailure(code: synced) }
}

private func randomName() -> String {
    var number: UInt64 = 0
    let count = unsafe withUnsafeMutableBytes(of: &number) { unsafe getrandom($0.baseAddress, $0.count, 0) }
    precondition(count == 8, "the kernel gives no random bytes")
    return String(number, radix: 36)
}

/// 0, or the `errno`; then nothing is left of the file.
private func writeNew(_ bytes: [UInt8], at path: String, permissions: UInt32) -> Int32 {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode_t(0o600))
    guard descriptor >= 0 else { return errno }
    var code = writeAll(bytes, to: descriptor)
    if code == 0, fchmod(descriptor, mode_t(permissions)) != 0 { code = errno }
    if code == 0, fsync(descriptor) != 0 { code = errno }
    if close(descriptor) != 0, code == 0 { code = errno }
    if code != 0 { _ = unsafe unlink(path) }
    return code
}

private func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
    var left = bytes[...]
    while !left.isEmpty {
        let count = unsafe left.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        if count > 0 { left = left.dropFirst(count) } else if errno != EINTR { return errno }
    }
    return 0
}

private func syncFolder(_ path: String) -> Int32 {
    let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return errno }
    defer { _ = close(descriptor) }
    return fsync(descriptor) == 0 ? 0 : errno
}
