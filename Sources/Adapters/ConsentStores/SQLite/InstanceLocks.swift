// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeSystem

/// Who lives: every process holds the lock of a file `instances/ID.lock` in the state folder from its start, and the
/// kernel drops it when the process dies. A stopped process keeps its lock.
final class InstanceLocks: Sendable {
    let instance: InstanceID
    private let directory: String
    private let own: Locked<FileLock?>
    private let ownFile: FileIdentity?

    /// Takes this instance's lock, then removes the files that the dead have left.
    init(stateDirectory: String, instance: InstanceID) throws(StoreFailure) {
        let directory = stateDirectory + "/instances"
        let path = InstanceLocks.path(of: instance, in: directory)
        do throws(SystemCallError) {
            try makePrivateDirectory(at: directory)
            own = Locked(try FileLock(at: path))
            ownFile = try FileIdentity.ofFile(at: path)
        } catch { throw .outOfReach("the state folder \(stateDirectory): \(error)") }
        self.instance = instance
        self.directory = directory
        removeDead()
    }

    /// Whether the instance runs; true for this one. Where it cannot be told it is taken for alive.
    func isAlive(_ owner: InstanceID) -> Bool {
        if owner == instance { return true }
        do { return try FileLock.state(ofFileAt: path(of: owner)) == .held } catch { return true }
    }

    /// Whether others can still see that this instance lives: its file lies where it was made.
    var isOwnFileInPlace: Bool {
        guard let found = try? FileIdentity.ofFile(at: path(of: instance)) else { return false }
        return found == ownFile
    }

    /// Gives the lock back and removes its file; from then on this instance counts as dead.
    func release() {
        own.withLock { $0 = nil }
        try? FileLock.removeIfFree(at: path(of: instance))
    }

    private func path(of owner: InstanceID) -> String { InstanceLocks.path(of: owner, in: directory) }

    private static func path(of owner: InstanceID, in directory: String) -> String { "\(directory)/\(owner).lock" }

    /// A file that cannot be removed does no harm: its lock is free all the same.
    private func removeDead() {
        guard let names = try? names(inDirectory: directory) else { return }
        for name in names where name.hasSuffix(".lock") && name != "\(instance).lock" {
            try? FileLock.removeIfFree(at: "\(directory)/\(name)")
        }
    }
}
