// SPDX-License-Identifier: Apache-2.0
/// Why a command line cannot be understood; the program ends with status 2.
package enum UsageError: Error, Sendable, Equatable {
    /// Nothing, or a group such as `keys`, where a command is wanted.
    case commandMissing(group: [String])
    case unknownCommand(String, group: [String], nearest: String?)
    /// The contract has it, this program does not yet.
    case commandNotBuilt([String])
    case unknownOption(String, command: [String], nearest: String?)
    case optionNotBuilt(String, command: [String])
    case valueMissing(option: String, value: String, command: [String])
    case valueUnwanted(option: String, command: [String])
    /// `--config` beside a command that reads no file.
    case configurationUnwanted(command: [String])
    case optionRepeated(String, command: [String])
    case optionMissing(String, command: [String])
    /// An option that stands only beside others, named as in `'--due' or '--all'`.
    case optionNeeds(String, String, command: [String])
    /// Two that exclude each other, quoted where they are written so.
    case notTogether(String, String, command: [String])
    case argumentMissing(String, command: [String])
    case argumentUnwanted(String, command: [String])
    /// The argument of that number, from 1, is not UTF-8.
    case argumentNotText(number: Int)
    /// - Parameters:
    ///   - what: the option or argument.
    ///   - expected: what it should look like, as in `a duration such as 90d`.
    case invalidValue(String, what: String, expected: String, command: [String])
    /// A value that should be one of a few names.
    case unknownName(String, what: String, known: [String], command: [String])

    /// One sentence on what is wrong.
    package var sentence: String {
        switch self {
        case .commandMissing(let group):
            return group.isEmpty ? "a command is missing" : "'\(joined(group))' needs a command"
        case .unknownCommand(let word, let group, let nearest):
            let whole = joined(group + [shown(word)])
            return "there is no command '\(whole)'" + suggestion(nearest.map { joined(group + [$0]) })
        case .commandNotBuilt(let command): return "'\(joined(command))' is not built yet"
        case .unknownOption(let name, let command, let nearest):
            return "\(subject(command)) has no option '\(shown(name))'" + suggestion(nearest)
        case .optionNotBuilt(let name, let command): return "'\(joined(command)) \(name)' is not built yet"
        default: return sentenceOnValues
        }
    }

    private var sentenceOnValues: String {
        switch self {
        case .valueMissing(let option, let value, _): "'\(option)' needs its value, as in '\(option) \(value)'"
        case .valueUnwanted(let option, _): "'\(option)' takes no value"
        case .configurationUnwanted(let command):
            "\(subject(command)) has a configuration of its own and cannot take '--config'"
        case .optionRepeated(let option, _): "'\(option)' can be given once only"
        case .optionMissing(let option, let command): "\(subject(command)) needs '\(option)'"
        case .optionNeeds(let option, let others, _): "'\(option)' needs \(others)"
        case .notTogether(let first, let second, _): "\(first) and \(second) cannot stand together"
        case .argumentMissing(let argument, let command): "\(subject(command)) needs \(argument)"
        case .argumentUnwanted(let word, let command): "\(subject(command)) has no place for '\(shown(word))'"
        case .argumentNotText(let number): "argument \(number) is not UTF-8"
        case .invalidValue(let value, let what, let expected, _): "\(what) '\(shown(value))' is not \(expected)"
        case .unknownName(let name, let what, let known, _):
            "\(what) '\(shown(name))' is not known" + suggestion(nearestName(to: name, among: known))
                + "; known: \(known.joined(separator: ", "))"
        default: sentence
        }
    }

    /// The words of the command or group that was meant; its help is what to read next.
    package var command: [String] {
        switch self {
        case .commandMissing(let group), .unknownCommand(_, let group, _): group
        case .commandNotBuilt, .argumentNotText: []
        case .unknownOption(_, let command, _), .optionNotBuilt(_, let command), .valueMissing(_, _, let command),
            .valueUnwanted(_, let command), .configurationUnwanted(let command), .optionRepeated(_, let command),
            .optionMissing(_, let command),
            .argumentMissing(_, let command), .optionNeeds(_, _, let command),
            .notTogether(_, _, let command), .argumentUnwanted(_, let command),
            .invalidValue(_, _, _, let command), .unknownName(_, _, _, let command):
            command
        }
    }

    /// The two lines for the standard error, the second with the help to read.
    package var output: CommandOutput {
        let help = joined([programName] + command + ["--help"])
        return CommandOutput(
            errors: "\(programName): \(sentence)\nSee '\(help)'.\n", status: .usage)
    }
}

/// The program as it is called.
let programName = "consent-gateway"

private func joined(_ words: [String]) -> String { words.joined(separator: " ") }

private func subject(_ command: [String]) -> String { command.isEmpty ? programName : "'\(joined(command))'" }

private func suggestion(_ name: String?) -> String { name.map { "; did you mean '\($0)'?" } ?? "" }

/// A word of the command line for a message: harmless to a terminal, and cut.
private func shown(_ word: String) -> String {
    let harmless = Printable.text(word)
    return harmless.count > 80 ? harmless.prefix(79) + "…" : harmless
}
