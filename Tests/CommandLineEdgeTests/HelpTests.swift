// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Testing

@Suite("Help")
struct HelpTests {
    @Test("the program's help names every command, built or not, and the exit statuses")
    func program() {
        #expect(
            CommandOutput.help([]).text == """
                Usage: consent-gateway COMMAND [OPTION…]

                Keeps the consents that people gave in an app: exchanges the app's authorization
                code, keeps the tokens sealed, reads the profile and keeps the grant alive.

                Commands:
                  serve                 the API and the admin listener, until SIGTERM or SIGINT
                  demo                  `serve` on the simulated provider, with an empty store
                  simulate              the simulated provider alone
                  refresh [ID…]         new tokens now, for these consents or all that are due
                  explain ID            how a grant stands, why, and what comes next
                  incidents […]         what keeps calls from providers, and held verdicts
                  job                   one pass of what waits, for cron, a timer or a CronJob
                  consents list         records, newest first
                  consents show ID      one record
                  consents revoke ID    withdraw one, for the reason `operator`
                  consents events ID    its audit trail, oldest first
                  consents receipt ID   its receipt, for the person or an auditor
                  keys init             make the vault's keys
                  keys status           the vault's keys by name, never the keys
                  keys api create NAME  make a caller's key; it is printed once
                  keys api list         callers' keys, their scopes and last use
                  keys api revoke NAME  end a caller's key
                  verify                follow the ledger, name what was altered or cut
                  migrate               bring the store's schema up to date
                  restore-check         after a restore: what the store does not know
                  provider list         configured providers, and built-in profiles
                  provider show NAME    what is known of one, without its secrets
                  provider test NAME    its recorded answers, then a probe of each endpoint
                  check                 read configuration, secrets and store, and say what
                                        would fail

                Not built yet:
                  subjects, keys rotate, keys purge, webhooks

                Options:
                  --config FILE  the configuration; else CONSENT_GATEWAY_CONFIG, else
                                 Config/gateway.yaml
                  --json         print JSON
                  --help         print this
                  --version      print the version

                Exit status: 0 all done; 1 done in part, or a check failed; 2 usage; 3
                configuration; 4 store or keys out of reach; 130 interrupted.

                """)
    }

    @Test("a group's help names the commands in it")
    func group() {
        #expect(
            CommandOutput.help(["keys"]).text == """
                Usage: consent-gateway keys COMMAND [OPTION…]

                The vault's keys, and the keys of callers.

                Commands:
                  init             make the vault's keys
                  status           the vault's keys by name, never the keys
                  api create NAME  make a caller's key; it is printed once
                  api list         callers' keys, their scopes and last use
                  api revoke NAME  end a caller's key

                Not built yet:
                  rotate, purge

                Options:
                  --config FILE  the configuration; else CONSENT_GATEWAY_CONFIG, else
                                 Config/gateway.yaml
                  --json         print JSON
                  --help         print this

                """)
    }

    @Test("a command's help tells what it does and every option")
    func command() {
        #expect(
            CommandOutput.help(["keys", "api", "create"]).text == """
                Usage: consent-gateway keys api create NAME [OPTION…]

                Makes an API key, keeps its SHA-256 in the store and prints the key, this once.
                A running `serve` knows it within 5 seconds. A name is given once, also after
                its key was revoked.

                Options:
                  --scopes A,B   what it may do, at least one of consents:read, consents:write,
                                 profiles:read, tokens:read, admin (which implies no other)
                  --expires 90d  good for so long; else until it is revoked
                  --output FILE  write the key to a new file with mode 0600 instead
                  --config FILE  the configuration; else CONSENT_GATEWAY_CONFIG, else
                                 Config/gateway.yaml
                  --json         print JSON
                  --help         print this

                """)
    }

    @Test("a command's help names the options that are not built yet")
    func plannedOptions() {
        #expect(
            CommandOutput.help(["refresh"]).text == """
                Usage: consent-gateway refresh [ID…] [OPTION…]

                Sends each consent's refresh token once, keeps what comes back, and prints what
                came of each and a summary. A refresh that another process did meanwhile is
                done. On a terminal, a line shows how far `--due` and `--all` have come.

                The first SIGINT or SIGTERM lets those under way come to their end and begins no
                other; the second ends the program.

                `--plan` and `--simulate` send nothing. The plan tells when each provider's
                grants are due and why, which grants a long outage would lose, and which
                interval is too long. The simulation counts the calls to come by the minute,
                against the part of the rate limit that background work may have.

                Exit status 1 if any of them was not refreshed.

                Options:
                  --due              those whose next refresh is due, next tries among them
                  --all              all that are active and have a refresh token
                  --include-failing  those that are failing too, before their next try is due
                  --provider P       of this provider, by its name in the configuration
                  --subject S        of this subject; - reads it from the standard input
                  --limit N          at most so many
                  --concurrency N    so many at once; default 8
                  --rate N/s         begin at most so many a second, evenly spaced
                  --dry-run          list who would be refreshed, and send nothing
                  --force            beside an ID: send the kept tokens of one that needs a new
                                     consent once more
                  --plan             say who would be refreshed when and why
                  --simulate 24h     count the calls of so long from now on, by the minute
                  --svg FILE         write `--simulate`'s chart to it as well
                  --config FILE      the configuration; else CONSENT_GATEWAY_CONFIG, else
                                     Config/gateway.yaml
                  --json             print JSON
                  --help             print this

                """)
    }

    @Test("a command that is not built yet says so")
    func planned() {
        #expect(CommandOutput.help(["webhooks"]).text == "'webhooks' is not built yet.\n")
    }

    @Test(
        "no line of any help is wider than 80 columns",
        arguments: [
            [], ["serve"], ["demo"], ["simulate"], ["refresh"], ["explain"], ["incidents"], ["job"], ["consents"],
            ["consents", "list"],
            ["consents", "show"], ["consents", "revoke"], ["consents", "events"], ["keys"], ["keys", "init"],
            ["keys", "status"], ["keys", "api"], ["keys", "api", "create"], ["keys", "api", "list"],
            ["keys", "api", "revoke"], ["verify"], ["migrate"], ["provider"], ["provider", "list"],
            ["provider", "show"], ["provider", "test"], ["check"],
        ])
    func width(_ path: [String]) {
        let text = CommandOutput.help(path).text
        #expect(text.hasPrefix("Usage: " + (["consent-gateway"] + path).joined(separator: " ")))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
        #expect(!text.contains(" \n"))
    }

    @Test("the version is a line, or JSON")
    func version() {
        #expect(CommandOutput.version("1.2.3", json: false).text == "consent-gateway 1.2.3\n")
        #expect(CommandOutput.version("1.2.3", json: true).text == "{\"version\":\"1.2.3\"}\n")
    }
}
