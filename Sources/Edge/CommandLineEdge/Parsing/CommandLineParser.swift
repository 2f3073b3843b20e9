// SPDX-License-Identifier: Apache-2.0
internal import Consents

/// Makes an invocation of a command line.
package enum CommandLineParser {
    /// - Parameters:
    ///   - arguments: the process's arguments without its own name.
    /// - Throws: what cannot be understood, or is not built yet; help that is asked for goes before either.
    package static func parse(_ arguments: [String]) throws(UsageError) -> Invocation {
        let beforeEnd = arguments.prefix { $0 != "--" }
        if arguments.first == "help" { return Invocation(command: .help(try helpPath(arguments.dropFirst()))) }
        if beforeEnd.contains(where: { $0 == "--help" || $0 == "-h" }) {
            return Invocation(command: .help(try helpPath(beforeEnd)))
        }
        if let version = version(beforeEnd) { return version }
        var reader = ArgumentReader(arguments)
        let read = try reader.read()
        if read.isSet("--config"), !read.command.readsConfiguration {
            throw .configurationUnwanted(command: read.command.words)
        }
        let builder = CommandBuilder(arguments: read)
        return Invocation(
            command: try builder.command(), configPath: read.value("--config"), json: read.isSet("--json"))
    }

    /// `--version` stands for a command, so nothing but `--json` is beside it.
    private static func version(_ arguments: ArraySlice<String>) -> Invocation? {
        guard arguments.contains("--version"), arguments.allSatisfy({ $0 == "--version" || $0 == "--json" }) else {
            return nil
        }
        return Invocation(command: .version, json: arguments.contains("--json"))
    }

    /// The words among the arguments that name a command or group, whatever else is there.
    private static func helpPath(_ arguments: ArraySlice<String>) throws(UsageError) -> [String] {
        var path: [String] = []
        var rest = arguments
        while let argument = rest.popFirst() {
            if argument == "--config" { rest = rest.dropFirst() }
            if argument.hasPrefix("-") { continue }
            let known = CommandTable.words(after: path)
            if known.isEmpty { break }
            guard known.contains(argument) else {
                throw .unknownCommand(argument, group: path, nearest: nearestName(to: argument, among: known))
            }
            path.append(argument)
        }
        return path
    }
}
