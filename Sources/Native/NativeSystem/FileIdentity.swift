// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Which file a path leads to: its device and inode (stat(2)).
package struct FileIdentity: Sendable, Hashable {
    private let device: UInt64
    private let inode: UInt64

    private init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }

    package init(ofDescriptor descriptor: Int32) throws(SystemCallError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .last("fstat") }
        self.init(status)
    }

    /// - Returns: nil where nothing has that name. The file is not opened: closing a second descriptor of a database
    ///   would drop the process's POSIX locks on it (fcntl(2)).
    package static func ofFile(at path: String) throws(SystemCallError) -> FileIdentity? {
        var status = stat()
        if unsafe stat(path, &status) == 0 { return FileIdentity(status) }
        guard errno == ENOENT || errno == ENOTDIR else { throw .last("stat") }
        return nil
    }
}
