// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Makes an empty file that its owner alone may read and write; one that is there is kept, and closed to others.
///
/// A file that is there is not opened, see ``FileIdentity/ofFile(at:)``.
package func makePrivateFile(at path: String) throws(SystemCallError) {
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 {
        _ = close(descriptor)
        return
    }
    guard errno == EEXIST else { throw .last("open") }
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { throw .last("stat") }
    guard status.st_mode & 0o077 != 0 else { return }
    guard unsafe chmod(path, status.st_mode & 0o700) == 0 else { throw .last("chmod") }
}

/// Makes a folder, and those above it that are missing, for its owner alone; one that is there stays as it is.
package func makePrivateDirectory(at path: String) throws(SystemCallError) {
    if path.isEmpty || makeOneDirectory(path) { return }
    guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else { throw .last("mkdir") }
    try makePrivateDirectory(at: String(path[..<slash]))
    guard makeOneDirectory(path) else { throw .last("mkdir") }
}

private func makeOneDirectory(_ path: String) -> Bool { unsafe mkdir(path, 0o700) == 0 || errno == EEXIST }

/// Why no file can be made in a folder, if that is so; of one that is not there yet, its nearest parent is asked
/// (access(2)). Makes nothing.
package func obstacle(toMakingFilesIn path: String) -> SystemCallError? {
    var status = stat()
    if unsafe stat(path, &status) == 0 {
        guard status.st_mode & S_IFMT == S_IFDIR else { return SystemCallError("stat", code: ENOTDIR) }
        return unsafe access(path, W_OK | X_OK) == 0 ? nil : .last("access")
    }
    guard errno == ENOENT, !path.isEmpty else { return .last("stat") }
    guard let slash = path.lastIndex(of: "/") else { return obstacle(toMakingFilesIn: ".") }
    return obstacle(toMakingFilesIn: slash == path.startIndex ? "/" : String(path[..<slash]))
}

/// Why this process cannot read and write a file, if that is so; none for one that is not there (access(2)). Opens
/// nothing.
package func obstacle(toWritingFileAt path: String) -> SystemCallError? {
    unsafe access(path, R_OK | W_OK) == 0 || errno == ENOENT ? nil : .last("access")
}

/// The names in a folder, in no order, without `.` and `..`.
package func names(inDirectory path: String) throws(SystemCallError) -> [String] {
    guard let directory = unsafe opendir(path) else { throw .last("opendir") }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
        // An entry is as long as its name (readdir(3)): what Swift sees as 256 bytes may end behind the folder's buffer.
        guard let place = MemoryLayout<dirent>.offset(of: \.d_name) else { continue }
        let name = unsafe String(
            cString: UnsafeRawPointer(entry).advanced(by: place).assumingMemoryBound(to: CChar.self))
        if name != "." && name != ".." { names.append(name) }
    }
    return names
}

/// Removes a file; one that is not there is no error.
package func removeFile(at path: String) throws(SystemCallError) {
    guard unsafe unlink(path) == 0 || errno == ENOENT else { throw .last("unlink") }
}
