// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents
import Testing

private let first = "cns_019378f0c0de7000a1b2c3d4e5f60718"
private let second = "cns_019378f0c0de7000a1b2c3d4e5f60719"
private let checkpoint = "9-a2e33e811495e20b718b81fa8c0db795"

/// A command line and what it asks for.
private struct Understood: Sendable, CustomTestStringConvertible {
    let line: String
    let command: Command
    var config: String?
    var json = false
    var testDescription: String { line }

    init(_ line: String, _ command: Command, config: String? = nil, json: Bool = false) {
        self.line = line
        self.command = command
        self.config = config
        self.json = json
    }
}

private func ids(_ texts: String...) -> [ConsentID] { texts.compactMap { ConsentID($0) } }

private let understood = [
    Understood("serve", .serve),
    Understood("--config a.yaml serve", .serve, config: "a.yaml"),
    Understood("serve --config=a=b.yaml", .serve, config: "a=b.yaml"),
    Understood("serve --json --config -", .serve, config: "-", json: true),
    Understood("demo --json", .demo, json: true),
    Understood("simulate", .simulate(SimulateOptions())),
    Understood(
        "simulate --fault slow=3@refresh --listen 127.0.0.1:0 --fault dead_code",
        .simulate(SimulateOptions(listen: "127.0.0.1:0", faults: ["slow=3@refresh", "dead_code"]))),
    Understood("simulate --list-faults --json", .simulate(SimulateOptions(listsFaults: true)), json: true),
    Understood(
        "simulate --id-tokens ES256 --signed-userinfo",
        .simulate(SimulateOptions(idTokens: .es256, signsUserinfo: true))),
    Understood("simulate --environment sandbox", .simulate(SimulateOptions(environment: .sandbox))),
    Understood("refresh \(first)", .refresh(ids(first), isForced: false)),
    Understood("refresh \(first) \(second)", .refresh(ids(first, second), isForced: false)),
    Understood(
        "refresh \(second) \(first) \(second)", .refresh(ids(second, first), isForced: false)),
    Understood("refresh -- \(first)", .refresh(ids(first), isForced: false)),
    Understood("refresh --force \(first)", .refresh(ids(first), isForced: true)),
    Understood("refresh --plan", .refreshPlan(provider: nil)),
    Understood("refresh --plan --provider acme --json", .refreshPlan(provider: "acme"), json: true),
    Understood("refresh --simulate 24h", .refreshForecast(ForecastRequest(minutes: 1440))),
    Understood(
        "refresh --svg out.svg --simulate=7d --provider acme",
        .refreshForecast(ForecastRequest(minutes: 10_080, provider: "acme", chartPath: "out.svg"))),
    Understood("explain \(first)", .explain(ids(first)[0])),
    Understood("refresh --due", .refreshSweep(RefreshSweep(.due))),
    Understood("refresh --all --subject -", .refreshSweep(RefreshSweep(.all, subject: .standardInput))),
    Understood(
        "refresh --limit 100 --due --provider paypal --subject u-1 --include-failing --concurrency=2 --rate 50/s "
            + "--dry-run",
        .refreshSweep(
            RefreshSweep(
                .due, provider: "paypal", subject: .written("u-1"), includesFailing: true, limit: 100, concurrency: 2,
                startsPerSecond: 50, isDryRun: true))),
    Understood(
        "--json consents --config a.yaml show \(first)", .consentsShow(ids(first)[0]), config: "a.yaml", json: true),
    Understood("consents list", .consentsList(ConsentFilter())),
    Understood("consents list --subject -", .consentsList(ConsentFilter(subject: .standardInput))),
    Understood(
        "consents list --status revoked --limit=3 --provider paypal --subject user-42 --json",
        .consentsList(ConsentFilter(subject: .written("user-42"), provider: "paypal", status: .revoked, limit: 3)),
        json: true),
    Understood("consents revoke \(first)", .consentsRevoke(ids(first)[0])),
    Understood("consents events \(first)", .consentsEvents(ids(first)[0])),
    Understood("consents receipt \(first)", .consentsReceipt(ids(first)[0], isSigned: false)),
    Understood("consents receipt --jwt \(first)", .consentsReceipt(ids(first)[0], isSigned: true)),
    Understood("keys init", .keysInit(isForced: false)), Understood("keys init --force", .keysInit(isForced: true)),
    Understood("keys status", .keysStatus),
    Understood("keys api list", .keysAPIList),
    Understood("keys api revoke backend", .keysAPIRevoke("backend")),
    Understood("verify", .verify(since: nil)),
    Understood("restore-check", .restoreCheck(isAccepting: false)),
    Understood("restore-check --accept", .restoreCheck(isAccepting: true)),
    Understood("verify --since \(checkpoint)", .verify(since: CheckpointName(checkpoint))),
    Understood("provider list", .providerList),
    Understood("provider show paypal", .providerShow("paypal")),
    Understood("provider test paypal", .providerTest("paypal")),
    Understood("job", .job(isDryRun: false)),
    Understood("job --dry-run --json", .job(isDryRun: true), json: true),
    Understood(
        "keys api create backend --scopes consents:read,consents:write,consents:read",
        .keysAPICreate(NewAPIKey(name: "backend", scopes: [.consentsRead, .consentsWrite]))),
    Understood(
        "keys api create --scopes=admin --expires 90d --output key.txt Ops.2",
        .keysAPICreate(
            NewAPIKey(name: "Ops.2", scopes: [.admin], lifetime: .seconds(90 * 86_400), outputPath: "key.txt"))),
    Understood("migrate", .migrate(statusOnly: false)),
    Understood("migrate --status", .migrate(statusOnly: true)),
    Understood("check", .check),
    Understood("--version", .version),
    Understood("--json --version", .version, json: true),
    Understood("--help", .help([])),
    Understood("help", .help([])),
    Understood("-h refresh", .help(["refresh"])),
    Understood("help keys api", .help(["keys", "api"])),
    Understood("keys api --help", .help(["keys", "api"])),
    Understood("--config keys keys api create --help --scopes", .help(["keys", "api", "create"])),
    Understood("refresh \(first) --due --nonsense --help", .help(["refresh"])),
    Understood("explain --help", .help(["explain"])),
    Understood("webhooks replay --help", .help(["webhooks"])),
]

/// A command line and the sentence that it is refused with.
private struct Refused: Sendable, CustomTestStringConvertible {
    let line: String
    let sentence: String
    let help: String
    var testDescription: String { line }

    init(_ line: String, _ sentence: String, help: String = "") {
        self.line = line
        self.sentence = sentence
        self.help = help
    }
}

private let refused = [
    Refused("", "a command is missing"),
    Refused("--json", "a command is missing"),
    Refused("keys", "'keys' needs a command", help: "keys "),
    Refused("keys api", "'keys api' needs a command", help: "keys api "),
    Refused("sevre", "there is no command 'sevre'; did you mean 'serve'?"),
    Refused("Refresh x", "there is no command 'Refresh'; did you mean 'refresh'?"),
    Refused("keys apl", "there is no command 'keys apl'; did you mean 'keys api'?", help: "keys "),
    Refused("explian", "there is no command 'explian'; did you mean 'explain'?"),
    Refused("xyzzy", "there is no command 'xyzzy'"),
    Refused("-- --help", "there is no command '--help'"),
    Refused("help sevre", "there is no command 'sevre'; did you mean 'serve'?"),
    Refused("explain", "'explain' needs the ID of a consent", help: "explain "),
    Refused("explain \(first) \(second)", "'explain' has no place for '\(second)'", help: "explain "),
    Refused("consents receipt", "'consents receipt' needs the ID of a consent", help: "consents receipt "),
    Refused("keys rotate", "'keys rotate' is not built yet"),
    Refused("job --dry-run=1", "'--dry-run' takes no value", help: "job "),
    Refused(
        "verify --since 1",
        "'--since' '1' is not a checkpoint's name: its number, '-' and 32 lower-case hexadecimal digits",
        help: "verify "),
    Refused(
        "consents list --limit 0", "'--limit' '0' is not a number from 1 to 100000", help: "consents list "),
    Refused(
        "consents list --status activ",
        "'--status' 'activ' is not known; did you mean 'active'?; known: active, failing, reauthorization_required, "
            + "superseded, expired, revoked", help: "consents list "),
    Refused("provider", "'provider' needs a command", help: "provider "),
    Refused("provider show", "'provider show' needs the NAME of a provider or profile", help: "provider show "),
    Refused("keys api revoke", "'keys api revoke' needs the NAME of a key", help: "keys api revoke "),
    Refused("verify all", "'verify' has no place for 'all'", help: "verify "),
    Refused("webhooks list", "'webhooks' is not built yet"),
    Refused("restore-check now", "'restore-check' has no place for 'now'", help: "restore-check "),
    Refused("refresh --due --force", "'--force' needs the ID of a consent", help: "refresh "),
    Refused("refresh --plan --all", "'--all' and '--plan' cannot stand together", help: "refresh "),
    Refused("refresh --plan --limit 3", "'--limit' needs '--due' or '--all'", help: "refresh "),
    Refused("refresh --plan --svg a.svg", "'--svg' needs '--simulate'", help: "refresh "),
    Refused("refresh --simulate", "'--simulate' needs its value, as in '--simulate 24h'", help: "refresh "),
    Refused(
        "refresh --simulate 59m", "'--simulate' '59m' is not a duration from 1h to 31d, as in 24h", help: "refresh "),
    Refused("refresh --simulate 24h \(first)", "an ID and '--simulate' cannot stand together", help: "refresh "),
    Refused("refresh --due --all", "'--due' and '--all' cannot stand together", help: "refresh "),
    Refused("refresh \(first) --due", "an ID and '--due' cannot stand together", help: "refresh "),
    Refused("refresh --all x", "an ID and '--all' cannot stand together", help: "refresh "),
    Refused("refresh --limit 5", "'--limit' needs '--due' or '--all'", help: "refresh "),
    Refused("refresh \(first) --dry-run", "'--dry-run' needs '--due' or '--all'", help: "refresh "),
    Refused(
        "refresh --all --limit 0", "'--limit' '0' is not a number from 1 to 1000000", help: "refresh "),
    Refused(
        "refresh --all --concurrency 257", "'--concurrency' '257' is not a number from 1 to 256", help: "refresh "),
    Refused(
        "refresh --all --rate 50", "'--rate' '50' is not a number from 1 to 10000 and '/s', as in 50/s",
        help: "refresh "),
    Refused(
        "refresh --all --rate 0/s", "'--rate' '0/s' is not a number from 1 to 10000 and '/s', as in 50/s",
        help: "refresh "),
    Refused("serve --jsno", "'serve' has no option '--jsno'; did you mean '--json'?", help: "serve "),
    Refused("refresh --Force", "'refresh' has no option '--Force'; did you mean '--force'?", help: "refresh "),
    Refused("refresh --conf x", "'refresh' has no option '--conf'; did you mean '--config'?", help: "refresh "),
    Refused("--force refresh", "consent-gateway has no option '--force'"),
    Refused("serve -x", "'serve' has no option '-x'", help: "serve "),
    Refused("serve --version", "'serve' has no option '--version'", help: "serve "),
    Refused("serve --config", "'--config' needs its value, as in '--config FILE'", help: "serve "),
    Refused("--config --json serve", "'--config' needs its value, as in '--config FILE'"),
    Refused("--config= serve", "'--config' needs its value, as in '--config FILE'"),
    Refused("serve --json=yes", "'--json' takes no value", help: "serve "),
    Refused(
        "demo --config a", "'demo' has a configuration of its own and cannot take '--config'", help: "demo "),
    Refused(
        "--config=a simulate", "'simulate' has a configuration of its own and cannot take '--config'",
        help: "simulate "),
    Refused("--config a serve --config b", "'--config' can be given once only", help: "serve "),
    Refused("serve now", "'serve' has no place for 'now'", help: "serve "),
    Refused(
        "refresh", "'refresh' needs the ID of a consent, '--due', '--all', '--plan' or '--simulate'", help: "refresh "),
    Refused("consents show", "'consents show' needs the ID of a consent", help: "consents show "),
    Refused(
        "consents show \(first) \(second)", "'consents show' has no place for '\(second)'", help: "consents show "),
    Refused(
        "refresh CNS_1", "the ID 'CNS_1' is not 'cns_' and 32 lower-case hexadecimal digits", help: "refresh "),
    Refused("refresh -", "the ID '-' is not 'cns_' and 32 lower-case hexadecimal digits", help: "refresh "),
    Refused("simulate --signed-userinfo", "'--signed-userinfo' needs '--id-tokens'", help: "simulate "),
    Refused(
        "simulate --refresh-tokens rotatin",
        "'--refresh-tokens' 'rotatin' is not known; did you mean 'rotating'?; known: static, rotating, "
            + "reuse_detection, grace:SECONDS", help: "simulate "),
    Refused(
        "simulate --environment test",
        "'--environment' 'test' is not known; known: live, sandbox, mock", help: "simulate "),
    Refused("keys api create backend", "'keys api create' needs '--scopes A,B'", help: "keys api create "),
    Refused("keys api create --scopes admin", "'keys api create' needs a NAME for the key", help: "keys api create "),
    Refused(
        "keys api create b --scopes consent:read",
        "the scope 'consent:read' is not known; did you mean 'consents:read'?; known: consents:read, "
            + "consents:write, profiles:read, tokens:read, admin", help: "keys api create "),
    Refused(
        "keys api create b_c --scopes admin",
        "the name 'b_c' is not 1 to 64 of A-Z a-z 0-9 . -, the first a letter or digit", help: "keys api create "),
    Refused(
        "keys api create b --scopes admin --expires 90", "'--expires' '90' is not a duration such as 90d",
        help: "keys api create "),
    Refused(
        "keys api create b --scopes admin --expires 0d", "'--expires' '0d' is not a duration such as 90d",
        help: "keys api create "),
    Refused(
        "keys api create b --scopes admin --expires 101y", "'--expires' '101y' is not a duration such as 90d",
        help: "keys api create "),
]

@Suite("The command line")
struct ParsingTests {
    private func parse(_ line: String) throws(UsageError) -> Invocation {
        try CommandLineParser.parse(line.split(separator: " ").map(String.init))
    }

    @Test("a command line is understood, with its options anywhere", arguments: understood)
    private func understands(_ row: Understood) throws {
        let expected = Invocation(command: row.command, configPath: row.config, json: row.json)
        #expect(try parse(row.line) == expected)
    }

    @Test("a command line that cannot be understood is refused in one sentence", arguments: refused)
    private func refuses(_ row: Refused) throws {
        let error = try #require(throws: UsageError.self) { try parse(row.line) }
        let output = error.output
        #expect(output.errors == "consent-gateway: \(row.sentence)\nSee 'consent-gateway \(row.help)--help'.\n")
        #expect(output.text.isEmpty)
        #expect(output.status == .usage)
    }

    @Test("a name is suggested only where it is like enough")
    func noFarSuggestion() throws {
        let error = try #require(throws: UsageError.self) { try parse("a") }
        #expect(error == .unknownCommand("a", group: [], nearest: nil))
    }

    @Test("what is typed is shown without what could move the terminal, and cut")
    func harmlessEcho() throws {
        let escape = try #require(throws: UsageError.self) {
            try CommandLineParser.parse(["a\u{1B}[31m\u{202E}\nb"])
        }
        #expect(escape.sentence == "there is no command 'a?[31m??b'")
        let long = try #require(throws: UsageError.self) {
            try CommandLineParser.parse([String(repeating: "x", count: 10_000)])
        }
        #expect(long.sentence == "there is no command '" + String(repeating: "x", count: 79) + "…'")
    }

    @Test(
        "the four ways of refresh tokens are taken as they are written",
        arguments: [
            "static", "rotating", "reuse_detection", "grace:0", "grace:30",
        ])
    func refreshTokens(_ mode: String) throws {
        let invocation = try CommandLineParser.parse(["simulate", "--refresh-tokens", mode])
        guard case .simulate(let options) = invocation.command else {
            Issue.record("not a simulate command")
            return
        }
        #expect(options.refreshTokens.text == mode)
    }

    @Test("a name, a subject or a path with blanks is one argument")
    func blanks() throws {
        let invocation = try CommandLineParser.parse(["check", "--config", "my folder/gateway.yaml"])
        #expect(invocation == Invocation(command: .check, configPath: "my folder/gateway.yaml"))
    }

    @Test("each exit status has the contract's number")
    func exitStatuses() {
        #expect(ExitStatus.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 130])
    }
}
