// SPDX-License-Identifier: Apache-2.0
/// The commands that are built, in the order in which the help lists them.
enum CommandTable {
    static let commands = [
        serve, demo, simulate, refresh, explain, incidents, job, consentsList, consentsShow, consentsRevoke,
        consentsEvents,
        consentsReceipt, keysInit, keysStatus, keysAPICreate, keysAPIList, keysAPIRevoke, verify, migrate, restoreCheck,
        providerList, providerShow,
        providerTest, check,
    ]

    static let groups = [
        CommandGroup(words: ["consents"], summary: "The same records as the API answers."),
        CommandGroup(words: ["keys"], summary: "The vault's keys, and the keys of callers."),
        CommandGroup(words: ["keys", "api"], summary: "The keys of callers."),
        CommandGroup(words: ["provider"], summary: "Configured providers, and the profiles that are built in."),
    ]

    /// Options that stand anywhere.
    static let commonOptions = [
        OptionEntry(
            name: "--config", value: "FILE",
            summary: "the configuration; else CONSENT_GATEWAY_CONFIG, else Config/gateway.yaml"),
        OptionEntry(name: "--json", summary: "print JSON"),
        OptionEntry(name: "--help", summary: "print this"),
    ]

    /// Those of them that this command takes.
    static func commonOptions(of command: CommandEntry) -> [OptionEntry] {
        command.readsConfiguration ? commonOptions : commonOptions.filter { $0.name != "--config" }
    }

    /// The command of these words.
    static func command(_ words: [String]) -> CommandEntry? { commands.first { $0.words == words } }

    /// Whether more words may follow these to make a command, built or not.
    static func isGroup(_ words: [String]) -> Bool { words.isEmpty || groups.contains { $0.words == words } }

    /// The words that may follow, those of commands not built yet included; in the order of the tables.
    static func words(after group: [String]) -> [String] {
        var found: [String] = []
        for words in commands.map(\.words) + PlannedCommands.all
        where words.count > group.count && words.starts(with: group) && !found.contains(words[group.count]) {
            found.append(words[group.count])
        }
        return found
    }
}

extension CommandTable {
    private static let serve = CommandEntry(
        words: ["serve"], summary: "the API and the admin listener, until SIGTERM or SIGINT",
        about: [
            "Answers the API on `server.listen`, and health, readiness and metrics on `server.admin_listen`. "
                + "By itself it does what `job` does, whenever it is due.",
            "SIGTERM or SIGINT drains: no new request is taken, those under way and what was sent to a provider "
                + "are seen to their end, for `server.shutdown_grace` at most; a second signal ends at once. SIGHUP "
                + "reads certificates, the vault's keys, `auth.api_keys`, secrets and the log level again; other "
                + "settings take a restart.",
            "With `--json`, one line of JSON on the standard output tells the addresses as soon as it is ready.",
        ])

    private static let demo = CommandEntry(
        words: ["demo"], summary: "`serve` on the simulated provider, with an empty store",
        about: [
            "Starts the simulated provider and a gateway with an empty store, both on free ports of 127.0.0.1, and "
                + "prints an API key and `curl` lines to paste. All of it is gone when it ends, with SIGINT or SIGTERM.",
            "With `--json`, it prints one line of JSON when it is ready: `api`, `admin`, `provider`, `api_key`, "
                + "`config`.",
        ],
        readsConfiguration: false)

    private static let simulate = CommandEntry(
        words: ["simulate"], summary: "the simulated provider alone",
        about: [
            "A provider to develop and test against: PayPal's and OpenID's endpoints, codes that work once and for "
                + "three minutes, and faults on request. A code is made by `POST /simulator/codes`.",
            "It prints where its endpoints are, and the one client that it knows. To play several providers, start it "
                + "several times.",
        ],
        options: [
            OptionEntry(name: "--listen", value: "ADDRESS", summary: "default 127.0.0.1:9400; port 0 picks a free one"),
            OptionEntry(
                name: "--fault", value: "NAME", isRepeatable: true,
                summary: "go wrong in this way; a number and places may follow, as in slow=3@refresh"),
            OptionEntry(name: "--list-faults", summary: "print the faults' names and end"),
            OptionEntry(
                name: "--refresh-tokens", value: "MODE",
                summary: "static (default), rotating, reuse_detection or grace:SECONDS"),
            OptionEntry(
                name: "--environment", value: "NAME",
                summary: "what its authorization responses name: mock (default), sandbox or live"),
            OptionEntry(
                name: "--id-tokens", value: "ALGORITHM",
                summary: "issue ID tokens at OpenID's endpoints, signed ES256, RS256 or PS256 with a key made now"),
            OptionEntry(name: "--signed-userinfo", summary: "sign profiles there too"),
        ],
        readsConfiguration: false)

    private static let job = CommandEntry(
        words: ["job"], summary: "one pass of what waits, for cron, a timer or a CronJob",
        about: [
            "Does once what `serve` does by itself: takes over what ended processes left behind, refreshes the grants "
                + "that are due, fetches the profiles that were not to be had, delivers the revocations that are due, "
                + "lets go what `retention` does not keep any longer, and makes a checkpoint if the last is an hour "
                + "old. It is safe to run beside `serve` and beside another `job`.",
            "The first SIGINT or SIGTERM lets what is under way come to its end and begins nothing else; the second "
                + "ends the program.",
            "Exit status 1 if a refresh failed or a provider could not be asked for all that was due.",
        ],
        options: [
            OptionEntry(name: "--dry-run", summary: "say what waits; change nothing and call nobody")
        ])

    private static let migrate = CommandEntry(
        words: ["migrate"], summary: "bring the store's schema up to date",
        about: [
            "Applies what the store's schema lacks, each step in a transaction. It is safe to run again.",
            "With `--from`, moves a SQLite file's consents into a PostgreSQL database that has nothing but the schema: "
                + "every row as it is, sealed. It goes on where an earlier run was ended, and compares every row and the "
                + "ends of all chains before it says that it is done. The file is not changed. Stop every gateway on it "
                + "first: a refresh in the meantime would be lost.",
        ],
        options: [
            OptionEntry(name: "--status", summary: "change nothing; exit status 1 if steps are wanting"),
            OptionEntry(name: "--from", value: "sqlite:PATH", summary: "move this file's consents"),
            OptionEntry(
                name: "--to", value: "URL",
                summary: "into this database, without a password in the URL; else the configured store"),
        ])

    private static let restoreCheck = CommandEntry(
        words: ["restore-check"], summary: "after a restore: what the store does not know",
        about: [
            "Holds the store against what `state_dir` has noted of it: how far it had come, which grants may have been "
                + "refreshed in the time that is lost, and which withdrawals it does not know. It changes nothing. Exit "
                + "status 1 if the store is behind or a withdrawal is missing.",
            "A store that is behind refreshes nothing, in any process, until it is accepted.",
        ],
        options: [
            OptionEntry(
                name: "--accept",
                summary: "withdraw again what is missing and let refreshing go on; each grant is then tried once")
        ])

    private static let check = CommandEntry(
        words: ["check"], summary: "read configuration, secrets and store, and say what would fail",
        about: [
            "Reads the configuration, its secrets, the vault's keys and the store, and prints a line on each: `ok`, "
                + "`warning` or `error`. Where live consents are of a provider that is not configured, it says so. "
                + "Exit status 1 if there is an error, 3 if the configuration cannot be read.",
            "It goes out to each `issuer` for discovery and keys, as far as the configuration needs them, and for the "
                + "keys of `auth.jwt`. Nothing else is asked of a provider: `provider test NAME` does that.",
        ])
}
