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

    /// What excludes each other: the ways to say what is meant.
    private static let ranges = ["--due", "--all", "--plan", "--simulate"]

    func command() throws(UsageError) -> Command {
        let ranges = RefreshBuilder.ranges.filter(arguments.isSet)
        if ranges.count > 1 { throw .notTogether("'\(ranges[0])'", "'\(ranges[1])'", command: words) }
        if arguments.isSet("--svg"), ranges.first != "--simulate" {
            throw .optionNeeds("--svg", "'--simulate'", command: words)
        }
        guard let range = ranges.first else { return try named() }
        if !arguments.operands.isEmpty { throw .notTogether("an ID", "'\(range)'", command: words) }
        if arguments.isSet("--force") { throw .optionNeeds("--force", "the ID of a consent", command: words) }
        switch range {
        case "--due": return .refreshSweep(try sweep(.due))
        case "--all": return .refreshSweep(try sweep(.all))
        default: return try outlook(range)
        }
    }

    private func named() throws(UsageError) -> Command {
        if let option = RefreshBuilder.sweepOptions.first(where: arguments.isSet) {
            throw .optionNeeds(option, "'--due' or '--all'", command: words)
        }
        return .refresh(try consentIDs(), isForced: arguments.isSet("--force"))
    }

    /// What looks ahead takes no option of a sweep but the provider.
    private func outlook(_ range: String) throws(UsageError) -> Command {
        if let option = RefreshBuilder.sweepOptions.first(where: { $0 != "--provider" && arguments.isSet($0) }) {
            throw .optionNeeds(option, "'--due' or '--all'", command: words)
        }
        let provider = arguments.value("--provider")
        guard let text = arguments.value("--simulate") else { return .refreshPlan(provider: provider) }
        let minutes = DurationText.duration(text).map { Int($0.milliseconds / 60_000) } ?? 0
        guard (ForecastRequest.leastMinutes...ForecastRequest.mostMinutes).contains(minutes) else {
            throw .invalidValue(
                text, what: "'--simulate'", expected: "a duration from 1h to 31d, as in 24h", command: words)
        }
        return .refreshForecast(
            ForecastRequest(minutes: minutes, provider: provider, chartPath: arguments.value("--svg")))
    }

    private func consentIDs() throws(UsageError) -> [ConsentID] {
        let builder = CommandBuilder(arguments: arguments)
        var ids: [ConsentID] = []
        for operand in arguments.operands {
            let id = try builder.consentID(operand)
            if !ids.contains(id) { ids.append(id) }
        }
        if ids.isEmpty {
            throw .argumentMissing("the ID of a consent, '--due', '--all', '--plan' or '--simulate'", command: words)
        }
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
