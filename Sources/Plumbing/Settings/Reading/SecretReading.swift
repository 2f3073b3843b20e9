// SPDX-License-Identifier: Apache-2.0
internal import NativeSystem

/// Why a secret could not be had. Never holds a part of it.
package enum SecretFailure: Error, Sendable, Equatable {
    case variableNotSet(name: String)
    case empty
    case notUTF8
    case file(path: String, reason: String)
    case command(program: String, reason: String)

    /// What is wrong and what to do.
    package var sentence: String {
        switch self {
        case .variableNotSet(let name): "the environment variable \(name) is not set; set it"
        case .empty: "the secret is empty; put it where the setting points to"
        case .notUTF8: "the secret is not UTF-8 text or contains NUL"
        case .file(let path, let reason): "cannot read the file \(path): \(reason)"
        case .command(let program, let reason): "the command \(program) \(reason)"
        }
    }
}

extension SecretSource {
    /// Reads the secret from where it is kept: whole, less one final newline.
    ///
    /// A command runs without a shell and may take 10 s. Files and outputs are at most 1 MiB.
    /// - Returns: nil for a literal, which is kept nowhere else.
    /// - Throws: ``SecretFailure``.
    package func read(environment: [String: String]) throws(SecretFailure) -> SettingsSecret? {
        let bytes: [UInt8]
        switch self {
        case .literal: return nil
        case .environment(let name):
            guard let text = environment[name] else { throw .variableNotSet(name: name) }
            bytes = Array(text.utf8)
        case .file(let path): bytes = withoutFinalNewline(try Self.fileContent(path))
        case .command(let arguments):
            bytes = withoutFinalNewline(try Self.commandOutput(arguments, environment: environment))
        }
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else { throw .notUTF8 }
        guard !text.isEmpty else { throw .empty }
        return SettingsSecret(text, from: self)
    }

    private static let largest = 1 << 20

    private static func fileContent(_ path: String) throws(SecretFailure) -> [UInt8] {
        do {
            return try readFile(at: path, limit: largest).bytes
        } catch {
            throw .file(path: path, reason: error.sentence)
        }
    }

    private static func commandOutput(
        _ arguments: [String], environment: [String: String]
    ) throws(SecretFailure) -> [UInt8] {
        do {
            return try runCommand(arguments, environment: environment, limit: largest, timeout: .seconds(10))
        } catch {
            throw .command(program: arguments.first ?? "", reason: error.sentence)
        }
    }

    private func withoutFinalNewline(_ bytes: [UInt8]) -> [UInt8] {
        bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes
    }
}

extension SettingsSecret {
    /// The same secret as it is now, as on SIGHUP; a literal stays what it is.
    /// - Throws: ``SecretFailure``; the old value still stands.
    package func readAgain(environment: [String: String]) throws(SecretFailure) -> SettingsSecret {
        try source.read(environment: environment) ?? self
    }
}
