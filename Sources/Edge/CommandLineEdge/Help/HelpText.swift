// SPDX-License-Identifier: Apache-2.0
/// The help of the program, a group or a command, 80 columns wide.
enum HelpText {
    static let width = 80

    /// - Parameters:
    ///   - path: the words of a command or group; empty for the whole program.
    static func text(of path: [String]) -> String {
        if let command = CommandTable.command(path) { return text(of: command) }
        let listed = CommandTable.commands.filter { $0.words.starts(with: path) }
        if listed.isEmpty { return UsageError.commandNotBuilt(path).sentence + ".\n" }
        var sections = [usage(path + ["COMMAND", "[OPTION…]"])]
        if path.isEmpty { sections.append(wrapped(about, indent: 0)) }
        sections += CommandTable.groups.filter { $0.words == path }.map { wrapped($0.summary, indent: 0) }
        let rows = listed.map { (name: call($0, after: path.count), summary: $0.summary) }
        sections.append("Commands:\n" + table(rows))
        sections += planned(plannedCalls(after: path))
        let version = OptionEntry(name: "--version", summary: "print the version")
        sections.append(options("Options:", CommandTable.commonOptions + (path.isEmpty ? [version] : [])))
        if path.isEmpty { sections.append(wrapped(exitStatus, indent: 0)) }
        return sections.joined(separator: "\n")
    }

    private static func text(of command: CommandEntry) -> String {
        var sections = [usage([call(command, after: 0), "[OPTION…]"])]
        sections += command.about.map { wrapped($0, indent: 0) }
        sections.append(options("Options:", command.options + CommandTable.commonOptions(of: command)))
        sections += planned(command.plannedOptions)
        return sections.joined(separator: "\n")
    }

    private static let about =
        "Keeps the consents that people gave in an app: exchanges the app's authorization code, keeps the tokens "
        + "sealed, reads the profile and keeps the grant alive."

    private static let exitStatus =
        "Exit status: 0 all done; 1 done in part, or a check failed; 2 usage; 3 configuration; 4 store or keys out "
        + "of reach; 130 interrupted."

    private static func usage(_ words: [String]) -> String {
        "Usage: " + ([programName] + words).joined(separator: " ") + "\n"
    }

    private static func call(_ command: CommandEntry, after count: Int) -> String {
        (command.words.dropFirst(count) + (command.operands.isEmpty ? [] : [command.operands])).joined(separator: " ")
    }

    private static func options(_ title: String, _ entries: [OptionEntry]) -> String {
        let rows = entries.map { (name: [$0.name, $0.value].compactMap(\.self).joined(separator: " "), $0.summary) }
        return title + "\n" + table(rows)
    }

    private static func plannedCalls(after path: [String]) -> [String] {
        PlannedCommands.all.filter { $0.starts(with: path) }.map { $0.dropFirst(path.count).joined(separator: " ") }
    }

    private static func planned(_ names: [String]) -> [String] {
        if names.isEmpty { return [] }
        let listed = names.dropLast().map { $0 + "," } + names.suffix(1)
        return ["Not built yet:\n" + wrapped(listed, indent: 2)]
    }

    /// Two columns: names, and what they mean.
    private static func table(_ rows: [(name: String, summary: String)]) -> String {
        let column = 2 + (rows.map(\.name.count).max() ?? 0) + 2
        return rows.map { row in
            let name = "  " + row.name
            let gap = String(repeating: " ", count: column - name.count)
            return name + gap + wrapped(row.summary, indent: column).drop { $0 == " " }
        }.joined()
    }

    /// Lines of whole words under the width, each after `indent` blanks.
    private static func wrapped(_ text: String, indent: Int) -> String {
        wrapped(text.split(separator: " ").map(String.init), indent: indent)
    }

    private static func wrapped(_ words: [String], indent: Int) -> String {
        var lines: [String] = []
        for word in words {
            if let line = lines.last, indent + line.count + 1 + word.count <= width {
                lines[lines.count - 1] = line + " " + word
            } else {
                lines.append(word)
            }
        }
        return lines.map { String(repeating: " ", count: indent) + $0 + "\n" }.joined()
    }
}
