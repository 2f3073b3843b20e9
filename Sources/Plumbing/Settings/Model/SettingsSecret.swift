// SPDX-License-Identifier: Apache-2.0

/// A secret of the configuration as it was last read: a value that does not print.
///
/// `description`, `debugDescription` and reflection all give `‹secret›`; only ``reveal()`` gives the text.
package struct SettingsSecret: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// Where the secret came from, and where `SettingsSecret.readAgain` takes it from on SIGHUP.
    package let source: SecretSource
    private let text: String

    /// A secret whose text was read from `source`.
    package init(_ text: String, from source: SecretSource) {
        self.text = text
        self.source = source
    }

    /// The secret itself. Call it only where the bytes are used.
    package func reveal() -> String { text }

    package var description: String { "‹secret›" }
    package var debugDescription: String { "‹secret›" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Where a secret is kept: `{env: NAME}`, `{file: PATH}`, `{command: [ARGV…]}`, or written out in the file.
package enum SecretSource: Sendable, Equatable {
    /// The text stands in the configuration itself (draws a warning).
    case literal
    /// The variable of that name. An override such as `CONSENT_GATEWAY__…__CLIENT_SECRET` is one too.
    case environment(name: String)
    /// The whole content of the file, less one final newline. The path is absolute or starts at the working folder.
    case file(path: String)
    /// What the program prints, less one final newline; no shell, 10 s at most.
    case command(arguments: [String])
}
