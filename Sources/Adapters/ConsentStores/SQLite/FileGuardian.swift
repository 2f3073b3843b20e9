// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeSystem

/// Holds that the store's files are still the ones that were opened: a database deleted or replaced under a running
/// process takes writes all the same, and loses them.
struct FileGuardian: Sendable {
    let path: String
    let database: FileIdentity
    let locks: InstanceLocks

    init(path: String, locks: InstanceLocks) throws(StoreFailure) {
        guard let database = try identity(of: path) else { throw .outOfReach("the file is not there") }
        self.path = path
        self.database = database
        self.locks = locks
    }

    /// - Parameter writeAheadLog: what the log was when it was made; nil before that.
    /// - Throws: `outOfReach`.
    func check(writeAheadLog: FileIdentity?) throws(StoreFailure) {
        guard try identity(of: path) == database else { throw gone(path) }
        if let writeAheadLog, try identity(of: path + "-wal") != writeAheadLog {
            throw gone(path + "-wal")
        }
        guard locks.isOwnFileInPlace else {
            throw .outOfReach("this instance's lock file was removed from the state folder; start the gateway again")
        }
    }

    private func gone(_ file: String) -> StoreFailure {
        .outOfReach("\(file) was deleted or replaced while it was in use; put it back, and start the gateway again")
    }
}
