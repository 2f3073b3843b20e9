// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A new folder of mode 0700 that nobody else has a name for (mkdtemp(3)).
/// - Parameters:
///   - prefix: what its name begins with.
///   - parent: the folder that it lies in, such as the value of `TMPDIR`.
/// - Throws: `SystemCallError`.
package func makeTemporaryFolder(prefix: String, in parent: String) throws(SystemCallError) -> String {
    var template = Array("\(parent)/\(prefix)XXXXXX".utf8CString)
    let isMade = unsafe template.withUnsafeMutableBufferPointer { unsafe mkdtemp($0.baseAddress!) != nil }
    guard isMade else { throw .last("mkdtemp") }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// Removes a folder and all that lies in it; links are removed, not followed. What cannot be removed stays.
package func removeFolder(at path: String) {
    guard let names = try? names(inDirectory: path) else { return }
    for name in names {
        let inner = "\(path)/\(name)"
        if unsafe unlink(inner) != 0 { removeFolder(at: inner) }
    }
    _ = unsafe rmdir(path)
}
