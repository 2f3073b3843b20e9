// SPDX-License-Identifier: Apache-2.0
internal import Consents

/// Makes a command of arguments whose words and options are known, its values checked.
struct CommandBuilder {
    let arguments: ReadArguments
    private var words: [String] { arguments.command.words }

    init(arguments: ReadArguments) { self.arguments = arguments }

    func command() throws(UsageError) -> Command {
        switch words.joined(separator: " ") {
        case "refresh": return try RefreshBuilder(arguments: arguments).command()
        case "explain": return .explain(try onlyConsentID())
        case "incidents": return try incidents()
        case "consents show": return .consentsShow(try onlyConsentID())
        case "consents revoke": return .consentsRevoke(try onlyConsentID())
        case "consents events": return .consentsEvents(try onlyConsentID())
        case "consents receipt":
            return .consentsReceipt(try onlyConsentID(), isSigned: arguments.isSet("--jwt"))
        case "keys api create": return .keysAPICreate(try newAPIKey())
        case "keys api revoke": return .keysAPIRevoke(try onlyOperand("the NAME of a key"))
        case "provider show": return .providerShow(try onlyOperand("the NAME of a provider or profile"))
        case "provider test": return .providerTest(try onlyOperand("the NAME of a provider or profile"))
        default: return try commandWithoutOperands()
        }
    }

    private func commandWithoutOperands() throws(UsageError) -> Command {
        if let operand = arguments.operands.first { throw .argumentUnwanted(operand, command: words) }
        switch words.joined(separator: " ") {
        case "serve": return .serve
        case "demo": return .demo
        case "simulate": return .simulate(try simulateOptions())
        case "consents list": return .consentsList(try consentFilter())
        case "keys init": return .keysInit(isForced: arguments.isSet("--force"))
        case "keys status": return .keysStatus
        case "keys api list": return .keysAPIList
        case "verify": return .verify(since: try checkpoint())
        case "restore-check": return .restoreCheck(isAccepting: arguments.isSet("--accept"))
        case "provider list": return .providerList
        case "job": return .job(isDryRun: arguments.isSet("--dry-run"))
        case "migrate": return try migration()
        case "check": return .check
        default: throw .commandNotBuilt(words)
        }
    }

    private func migration() throws(UsageError) -> Command {
        guard let source = arguments.value("--from") else {
            if arguments.isSet("--to") { throw .optionNeeds("--to", "'--from'", command: words) }
            return .migrate(statusOnly: arguments.isSet("--status"))
        }
        if arguments.isSet("--status") { throw .notTogether("'--from'", "'--status'", command: words) }
        let scheme = "sqlite:"
        guard source.hasPrefix(scheme), source.count > scheme.count, !source.hasPrefix("sqlite://") else {
            throw .invalidValue(source, what: "'--from'", expected: "sqlite:PATH", command: words)
        }
        let target = arguments.value("--to")
        // Not shown: it may hold a password.
        if let target, !target.hasPrefix("postgres://"), !target.hasPrefix("postgresql://") {
            throw .invalidValue(
                "…", what: "'--to'", expected: "the URL of a database, as in postgres://user@host/database",
                command: words)
        }
        return .move(MoveRequest(source: String(source.dropFirst(scheme.count)), target: target))
    }

    private func simulateOptions() throws(UsageError) -> SimulateOptions {
        var options = SimulateOptions(
            faults: arguments.values("--fault"), listsFaults: arguments.isSet("--list-faults"))
        if let listen = arguments.value("--listen") { options.listen = listen }
        if let mode = arguments.value("--refresh-tokens") {
            options.refreshTokens = try known(
                SimulateOptions.RefreshTokens(mode), mode, what: "'--refresh-tokens'",
                among: SimulateOptions.RefreshTokens.forms)
        }
        if let name = arguments.value("--environment") {
            options.environment = try known(
                SimulateOptions.Environment(rawValue: name), name, what: "'--environment'",
                among: SimulateOptions.Environment.allCases.map(\.rawValue))
        }
        if let name = arguments.value("--id-tokens") {
            options.idTokens = try known(
                SimulateOptions.IDTokens(rawValue: name), name, what: "'--id-tokens'",
                among: SimulateOptions.IDTokens.allCases.map(\.rawValue))
        }
        options.signsUserinfo = arguments.isSet("--signed-userinfo")
        if options.signsUserinfo, options.idTokens == nil {
            throw .optionNeeds("--signed-userinfo", "'--id-tokens'", command: words)
        }
        return options
    }

    /// The value that a name stands for.
    private func known<Value>(
        _ value: Value?, _ name: String, what: String, among names: [String]
    ) throws(UsageError) -> Value {
        if let value { return value }
        throw .unknownName(name, what: what, known: names, command: words)
    }

    private func consentFilter() throws(UsageError) -> ConsentFilter {
        var filter = ConsentFilter(provider: arguments.value("--provider"))
        filter.subject = try subject()
        if let name = arguments.value("--status") {
            filter.status = try known(
                ConsentStatus(rawValue: name), name, what: "'--status'", among: ConsentStatus.allCases.map(\.rawValue))
        }
        if let limit = try number("--limit", in: 1...ConsentFilter.largestLimit) { filter.limit = limit }
        return filter
    }

    /// Where the subject of `--subject` comes from.
    func subject() throws(UsageError) -> SubjectSource? {
        guard let text = arguments.value("--subject") else { return nil }
        guard text == "-" || Subject(text) != nil else {
            throw .invalidValue(
                text, what: "'--subject'", expected: "1 to 255 bytes without control characters", command: words)
        }
        return text == "-" ? .standardInput : .written(text)
    }

    /// The number of an option, where it is given.
    func number(_ option: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = arguments.value(option) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw .invalidValue(
                text, what: "'\(option)'", expected: "a number from \(range.lowerBound) to \(range.upperBound)",
                command: words)
        }
        return number
    }

    private func newAPIKey() throws(UsageError) -> NewAPIKey {
        let name = try onlyOperand("a NAME for the key")
        guard NewAPIKey.isName(name) else {
            throw .invalidValue(
                name, what: "the name", expected: "1 to 64 of A-Z a-z 0-9 . -, the first a letter or digit",
                command: words)
        }
        return NewAPIKey(
            name: name, scopes: try scopes(), lifetime: try lifetime(), outputPath: arguments.value("--output"))
    }

    private func checkpoint() throws(UsageError) -> CheckpointName? {
        guard let text = arguments.value("--since") else { return nil }
        if let name = CheckpointName(text) { return name }
        throw .invalidValue(
            text, what: "'--since'",
            expected: "a checkpoint's name: its number, '-' and 32 lower-case hexadecimal digits",
            command: words)
    }

    private func scopes() throws(UsageError) -> [CallerScope] {
        guard let text = arguments.value("--scopes") else { throw .optionMissing("--scopes A,B", command: words) }
        var scopes: [CallerScope] = []
        for name in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
            let scope = try known(
                CallerScope(rawValue: name), name, what: "the scope", among: CallerScope.allCases.map(\.rawValue))
            if !scopes.contains(scope) { scopes.append(scope) }
        }
        return scopes
    }

    private func lifetime() throws(UsageError) -> Duration? {
        guard let text = arguments.value("--expires") else { return nil }
        guard let duration = DurationText.duration(text), duration > .zero else {
            throw .invalidValue(text, what: "'--expires'", expected: "a duration such as 90d", command: words)
        }
        return duration
    }

    private func onlyOperand(_ sentence: String) throws(UsageError) -> String {
        guard let operand = arguments.operands.first else { throw .argumentMissing(sentence, command: words) }
        if arguments.operands.count > 1 { throw .argumentUnwanted(arguments.operands[1], command: words) }
        return operand
    }

    private func onlyConsentID() throws(UsageError) -> ConsentID {
        try consentID(try onlyOperand("the ID of a consent"))
    }

    func consentID(_ text: String) throws(UsageError) -> ConsentID {
        if let id = ConsentID(text) { return id }
        throw .invalidValue(
            text, what: "the ID", expected: "'cns_' and 32 lower-case hexadecimal digits", command: words)
    }
}
