// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Why a file with a secret in it was not taken.
package enum PrivateFileFailure: Error, Sendable, Equatable {
    case unread(FileReadingFailure)
    case symbolicLink
    /// Others than its owner may read or change it, or its owner may run it: the permission bits.
    case exposed(permissions: UInt32)
    /// Others than its owner's group may read it, or others than its owner may change it: the permission bits.
    case exposedKey(permissions: UInt32)
    /// It belongs to another user.
    case foreign(owner: UInt32)

    /// What it says to a person, without the path.
    package var sentence: String {
        switch self {
        case .unread(let failure): failure.sentence
        case .symbolicLink: "a symbolic link; name the file itself"
        case .exposed(let bits): "its mode is 0\(String(bits, radix: 8)); it must be 0600 (chmod 600)"
        case .exposedKey(let bits):
            "its mode is 0\(String(bits, radix: 8)); it must be 0600, or 0640 where a group reads it"
        case .foreign(let owner): "it belongs to user \(owner), not to the one that runs this program"
        }
    }
}

/// Reads a regular file that nobody but us may read: mode 0600 or 0400, our own, no symbolic link.
///
/// Mode and owner are those of the file that was read, not of one that was there a moment before.
/// - Throws: ``PrivateFileFailure``.
package func readPrivateFile(at path: String, limit: Int) throws(PrivateFileFailure) -> [UInt8] {
    var contents: FileContents
    do throws(FileReadingFailure) {
        contents = try readFile(at: path, limit: limit, flags: O_NOFOLLOW)
    } catch {
        throw error == .failed(code: ELOOP) ? .symbolicLink : .unread(error)
    }
    guard contents.owner == geteuid() else { throw .foreign(owner: contents.owner) }
    guard contents.permissions | 0o600 == 0o600 else { throw .exposed(permissions: contents.permissions) }
    return contents.bytes
}

/// Reads a server's private key: mode 0640 or less, our own or root's.
///
/// Links are followed, since tools that renew certificates put links to the newest files; mode and owner are those of
/// the file that was read.
/// - Throws: ``PrivateFileFailure``.
package func readServerKey(at path: String, limit: Int) throws(PrivateFileFailure) -> [UInt8] {
    let contents: FileContents
    do throws(FileReadingFailure) { contents = try readFile(at: path, limit: limit) } catch { throw .unread(error) }
    guard contents.owner == geteuid() || contents.owner == 0 else { throw .foreign(owner: contents.owner) }
    guard contents.permissions | 0o640 == 0o640 else { throw .exposedKey(permissions: contents.permissions) }
    return contents.bytes
}
