// SPDX-License-Identifier: Apache-2.0
internal import Consents

/// Makes the command of `refresh`: some consents by their names, or all of a kind.
struct RefreshBuilder {
    let arguments: ReadArguments
    private var words: [String] { arguments.command.words }

    init(arguments: ReadArguments) { self.arguments = arguments }

    /// Options that say which consents are meant, or how to go through them.
    private static let sweepOptions = [
        "--provider", "--subject", "--include-failing", "--limit", "--concurrency", "--rate", "--dry-run",
    ]

    func command() throws(UsageError) -> Command {
        let ranges = ["--due", "--all"].filter(arguments.isSet)
        if ranges.count > 1 { throw .notTogether("'--due'", "'--all'", command: words) }
        guard let range = ranges.first else {
            if let option = RefreshBuilder.sweepOptions.first(where: arguments.isSet) {
                throw .optionNeeds(option, "'--due' or '--all'", command: words)
            }
            return .refresh(try consentIDs())
        }
        if !arguments.operands.isEmpty { throw .notTogether("an ID", "'\(range)'", command: words) }
        return .refreshSweep(try sweep(range == "--due" ? .due : .all))
    }

    private func consentIDs() throws(UsageError) -> [ConsentID] {
        let builder = CommandBuilder(arguments: arguments)
        var ids: [ConsentID] = []
        for operand in arguments.operands {
            let id = try builder.consentID(operand)
            if !ids.contains(id) { ids.append(id) }
        }
        if ids.isEmpty { throw .argumentMissing("the ID of a consent, '--due' or '--all'", command: words) }
        return ids
    }

    private func sweep(_ range: RefreshSweep.Range) throws(UsageError) -> RefreshSweep {
        let builder = CommandBuilder(arguments: arguments)
        var sweep = RefreshSweep(
            range, provider: arguments.value("--provider"), subject: try builder.subject(),
            includesFailing: arguments.isSet("--include-failing"), isDryRun: arguments.isSet("--dry-run"))
        sweep.limit = try builder.number("--limit", in: 1...RefreshSweep.largestLimit)
        if let count = try builder.number("--concurrency", in: 1...RefreshSweep.largestConcurrency) {
            sweep.concurrency = count
        }
        sweep.startsPerSecond = try rate()
        return sweep
    }

    /// Written as `50/s`.
    private func rate() throws(UsageError) -> Int? {
        guard let text = arguments.value("--rate") else { return nil }
        guard text.hasSuffix("/s"), let rate = Int(text.dropLast(2)), (1...RefreshSweep.largestRate).contains(rate)
        else {
            throw .invalidValue(
                text, what: "'--rate'", expected: "a number from 1 to \(RefreshSweep.largestRate) and '/s', as in 50/s",
                command: words)
        }
        return rate
    }
}
