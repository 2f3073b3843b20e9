// SPDX-License-Identifier: Apache-2.0
import Glibc
import NativeSystem

/// What `Tests/canary` needs to know of a run: what went over the wire, which secrets were made, and what was put out.
/// It takes every secret out of the first two and looks for it in the third, in many disguises.
///
/// All of it goes into the folder that the environment variable `CANARY_FOLDER` names; without it nothing is kept.
package enum Canary {
    /// A kind of output, and the file that all of it is gathered in.
    package enum Channel: String, CaseIterable, Sendable {
        /// Log lines, at the level `debug`.
        case log
        /// Answers of the gateway's two listeners, without those whose purpose is to hand out what they hold.
        case answers
        /// Files of the store and of the state.
        case store
        /// What programs that a test has started wrote.
        case children
        /// What the test program itself prints; `Tests/canary` gathers it.
        case console
    }

    /// Remembers a secret that a test has made or been given.
    /// - Parameter file: `#fileID` of the test, whose first part is its target.
    package static func know(_ secret: String, in file: String) {
        append(Array(secret.utf8) + [0], to: "values", of: file)
    }

    /// Remembers a request to a provider or to the gateway, a provider's answer, or the body of one: secrets and
    /// attributes are taken out of its members, parameters and `Authorization`.
    package static func passed(_ message: [UInt8], in file: String) {
        append(message + [10, 0, 10], to: "wire", of: file)
    }

    /// Gathers an output, to be searched after the run.
    package static func keep(_ output: [UInt8], in channel: Channel) {
        append(output + [10], to: "output", of: channel.rawValue)
    }

    /// Says that a harmless word was put out there. Where the search does not find it, it has looked at nothing.
    package static func expect(_ word: String, in channel: Channel) {
        append(Array(word.utf8) + [0], to: "expected", of: channel.rawValue)
    }

    private static func append(_ bytes: [UInt8], to kind: String, of name: String) {
        guard let folder = getenv("CANARY_FOLDER").map({ String(cString: $0) }) else { return }
        let path = "\(folder)/\(kind)/\(name.prefix { $0 != "/" })"
        // One write at the end of the file: writers of many threads do not mix.
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
        precondition(count == bytes.count, "\(path) could not be written: \(errno)")
    }
}
