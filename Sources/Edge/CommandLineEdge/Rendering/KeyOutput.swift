// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeJSON

/// `keys init` and `keys api create`.
package enum KeyOutput {
    /// A new ring lies in that file.
    package static func ringMade(path: String, json: Bool) -> CommandOutput {
        if json { return CommandOutput(text: jsonDocument(["path": JSONValue(path)])) }
        return CommandOutput(
            text: """
                The vault's keys are in \(Printable.text(path)) (mode 0600).
                Keep a copy apart from the store's backups: without it nothing in the store can be opened.

                """)
    }

    /// A file is there already, and was left as it is.
    package static func ringExists(path: String) -> CommandOutput {
        .failure("vault.keys: \(Printable.text(path)) is there already and was left as it is", status: .partlyDone)
    }

    /// A caller's key was made. With an output path the key has gone there (`file(of:)`) and is not printed.
    package static func apiKeyMade(
        _ request: NewAPIKey, key: SecretText, expiresAt: Instant?, json: Bool
    ) -> CommandOutput {
        if json { return CommandOutput(text: jsonDocument(document(request, key: key, expiresAt: expiresAt))) }
        let life = expiresAt.map { "until \($0.text)" } ?? "until it is revoked"
        let scopes = request.scopes.map(\.rawValue).joined(separator: ", ")
        let facts =
            "The key '\(request.name)' may do \(scopes), \(life); a running 'serve' knows it within 5 seconds.\n"
        if let path = request.outputPath {
            return CommandOutput(text: facts + "It is in \(Printable.text(path)) (mode 0600) and nowhere else.\n")
        }
        return CommandOutput(text: facts + "It is shown this once:\n\n\(key.reveal())\n")
    }

    package static func nameTaken(_ name: String) -> CommandOutput {
        .failure("there is a key named '\(name)' already", status: .partlyDone)
    }

    /// The name was that of a key that is revoked.
    package static func nameRevoked(_ name: String, at: Instant) -> CommandOutput {
        .failure(
            "the key '\(name)' was revoked \(at.text), and a name is not used again, for events tell callers by it: "
                + "take another one", status: .partlyDone)
    }

    /// A key of the configuration has the name; a second one could not be told from it.
    /// - Parameter place: file, line and key path.
    package static func nameConfigured(_ name: String, at place: String) -> CommandOutput {
        .failure("\(place): there is a key named '\(name)' already, in the configuration", status: .partlyDone)
    }

    /// Nobody has seen the key, and it is gone.
    package static func unprintedAndRemoved(_ name: String) -> CommandOutput {
        .failure(
            "the key '\(name)' could not be printed and was removed again: the standard output takes nothing",
            status: .partlyDone)
    }

    /// The key is good and in its file, only the words on it are lost.
    package static func unprinted(_ name: String, isIn path: String) -> CommandOutput {
        .failure(
            "the key '\(name)' is made and in \(path), but this could not be printed: the standard output takes nothing",
            status: .partlyDone)
    }

    /// What goes into the file of `--output`: the key and a newline.
    package static func file(of key: SecretText) -> [UInt8] { Array((key.reveal() + "\n").utf8) }

    private static func document(_ request: NewAPIKey, key: SecretText, expiresAt: Instant?) -> JSONValue {
        var json = JSONValue.object()
        json.set("name", request.name)
        json.set("scopes", request.scopes.map(\.rawValue))
        json.set("expires_at", expiresAt?.text)
        if let path = request.outputPath { json.set("output", path) } else { json.set("key", key.reveal()) }
        return json
    }
}
