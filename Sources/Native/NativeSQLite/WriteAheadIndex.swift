// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The index of a database's write-ahead log, in which every process that has the database open holds a shared lock on
/// one byte, also one that is idle or stopped (sqlite.org/walformat.html, section 2.3.2; `UNIX_SHM_DMS` in os_unix.c).
///
/// Not for beside a connection of this process that is still read: to close it takes that one's locks (fcntl(2)).
package struct WriteAheadIndex: ~Copyable {
    private static let deadMansSwitch: off_t = 128

    private let descriptor: Int32

    /// Where there is none, nobody has the database open.
    package init(ofDatabaseAt path: String) {
        descriptor = unsafe open(path + "-shm", O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    }

    deinit { if descriptor >= 0 { _ = close(descriptor) } }

    /// A process, other than this one, that has the database open; nil where none has, or it cannot be told.
    package var otherHolder: Int32? {
        var lock = flock(
            l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: WriteAheadIndex.deadMansSwitch, l_len: 1,
            l_pid: 0)
        guard unsafe fcntl(descriptor, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK) else { return nil }
        return lock.l_pid
    }
}
