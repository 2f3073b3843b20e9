// SPDX-License-Identifier: Apache-2.0
internal import NativeJSON

/// What a command prints and how it ends; the program writes it.
package struct CommandOutput: Sendable, Equatable {
    /// For the standard output: whole lines, or nothing.
    package var text: String
    /// For the standard error: whole lines, or nothing.
    package var errors: String
    package var status: ExitStatus

    package init(text: String = "", errors: String = "", status: ExitStatus = .done) {
        self.text = text
        self.errors = errors
        self.status = status
    }

    /// Help or version.
    package static func help(_ path: [String]) -> CommandOutput { CommandOutput(text: HelpText.text(of: path)) }

    package static func version(_ number: String, json: Bool) -> CommandOutput {
        CommandOutput(text: json ? jsonLine(["version": JSONValue(number)]) : "\(programName) \(number)\n")
    }

    /// A failure in one sentence, as in `consent-gateway: the vault's keys cannot be read`.
    package static func failure(_ sentence: String, status: ExitStatus) -> CommandOutput {
        CommandOutput(errors: "\(programName): \(Printable.text(sentence))\n", status: status)
    }
}

/// A JSON document for people: indented, with a final newline.
func jsonDocument(_ value: JSONValue) -> String { String(decoding: value.serialized(.indented), as: UTF8.self) + "\n" }

/// A JSON document in one line, for programs that read lines.
func jsonLine(_ value: JSONValue) -> String { String(decoding: value.serialized(.compact), as: UTF8.self) + "\n" }
