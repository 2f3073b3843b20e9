// SPDX-License-Identifier: Apache-2.0
/// The arguments taken apart: the command's words, its operands and its options, each known and with its value.
struct ReadArguments {
    var command: CommandEntry
    var operands: [String] = []
    /// By name, with the values in their order; a flag has one empty value.
    var options: [String: [String]] = [:]

    func isSet(_ name: String) -> Bool { options[name] != nil }
    func value(_ name: String) -> String? { options[name]?.last }
    func values(_ name: String) -> [String] { options[name] ?? [] }
}

/// Reads arguments from left to right: words walk down the groups to a command, options may stand anywhere after the
/// word that they belong to, `--` ends them, and `-` alone is an operand.
struct ArgumentReader {
    private var rest: ArraySlice<String>
    private var words: [String] = []
    private var command: CommandEntry?
    private var areOptionsEnded = false
    private var operands: [String] = []
    private var options: [String: [String]] = [:]

    init(_ arguments: [String]) { rest = arguments[...] }

    mutating func read() throws(UsageError) -> ReadArguments {
        while let argument = rest.popFirst() {
            if areOptionsEnded || argument == "-" || !argument.hasPrefix("-") {
                try take(word: argument)
            } else if argument == "--" {
                areOptionsEnded = true
            } else {
                try take(option: argument)
            }
        }
        guard let command else { throw .commandMissing(group: words) }
        return ReadArguments(command: command, operands: operands, options: options)
    }

    private mutating func take(word: String) throws(UsageError) {
        if command != nil {
            operands.append(word)
            return
        }
        let next = words + [word]
        if PlannedCommands.all.contains(next) { throw .commandNotBuilt(next) }
        command = CommandTable.command(next)
        guard command != nil || CommandTable.isGroup(next) else {
            throw .unknownCommand(
                word, group: words, nearest: nearestName(to: word, among: CommandTable.words(after: words)))
        }
        words = next
    }

    private mutating func take(option argument: String) throws(UsageError) {
        let equals = argument.firstIndex(of: "=")
        let name = String(argument[..<(equals ?? argument.endIndex)])
        let inline = equals.map { String(argument[argument.index(after: $0)...]) }
        let entry = try entry(named: name)
        if options[name] != nil && !entry.isRepeatable { throw .optionRepeated(name, command: words) }
        options[name, default: []].append(try value(of: entry, inline: inline))
    }

    private func entry(named name: String) throws(UsageError) -> OptionEntry {
        let known = (command?.options ?? []) + CommandTable.commonOptions
        if let entry = known.first(where: { $0.name == name }) { return entry }
        let planned = command?.plannedOptions ?? []
        if planned.contains(name) { throw .optionNotBuilt(name, command: words) }
        throw .unknownOption(
            name, command: words, nearest: nearestName(to: name, among: known.map(\.name) + planned))
    }

    private mutating func value(of entry: OptionEntry, inline: String?) throws(UsageError) -> String {
        guard let placeholder = entry.value else {
            if inline != nil { throw .valueUnwanted(option: entry.name, command: words) }
            return ""
        }
        let value = inline ?? (rest.first?.hasPrefix("--") == true ? nil : rest.popFirst())
        guard let value, !value.isEmpty else {
            throw .valueMissing(option: entry.name, value: placeholder, command: words)
        }
        return value
    }
}
