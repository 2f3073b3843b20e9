// SPDX-License-Identifier: Apache-2.0
/// One command as data: what the parser takes and the help says. A new command is a new row of `CommandTable`.
struct CommandEntry: Sendable {
    /// Its words, as in `["keys", "api", "create"]`.
    var words: [String]
    /// What follows the words, as in `ID…`; empty for nothing.
    var operands = ""
    /// What it does, for the list of commands.
    var summary: String
    /// What it does, in paragraphs.
    var about: [String]
    var options: [OptionEntry] = []
    /// Options of the contract that are not built yet; each is answered so.
    var plannedOptions: [String] = []
    /// False for what makes do without a file: `--config` is refused rather than ignored.
    var readsConfiguration = true
}

/// One option as data.
struct OptionEntry: Sendable {
    /// With its dashes, as in `--scopes`.
    var name: String
    /// What stands for its value in a help text; nil for a flag.
    var value: String?
    var isRepeatable = false
    var summary: String
}

/// A word that only has commands under it.
struct CommandGroup: Sendable {
    var words: [String]
    var summary: String
}
