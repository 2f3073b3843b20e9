// SPDX-License-Identifier: Apache-2.0
/// `refresh`.
extension CommandTable {
    static let refresh = CommandEntry(
        words: ["refresh"], operands: "[ID…]", summary: "new tokens now, for these consents or all that are due",
        about: [
            "Sends each consent's refresh token once, keeps what comes back, and prints what came of each and a "
                + "summary. A refresh that another process did meanwhile is done. On a terminal, a line shows how far "
                + "`--due` and `--all` have come.",
            "The first SIGINT or SIGTERM lets those under way come to their end and begins no other; the second ends "
                + "the program.",
            "`--plan` and `--simulate` send nothing. The plan tells when each provider's grants are due and why, which "
                + "grants a long outage would lose, and which interval is too long. The simulation counts the calls to "
                + "come by the minute, against the part of the rate limit that background work may have.",
            "Exit status 1 if any of them was not refreshed.",
        ],
        options: [
            OptionEntry(name: "--due", summary: "those whose next refresh is due, next tries among them"),
            OptionEntry(name: "--all", summary: "all that are active and have a refresh token"),
            OptionEntry(
                name: "--include-failing", summary: "those that are failing too, before their next try is due"),
            OptionEntry(name: "--provider", value: "P", summary: "of this provider, by its name in the configuration"),
            OptionEntry(
                name: "--subject", value: "S", summary: "of this subject; - reads it from the standard input"),
            OptionEntry(name: "--limit", value: "N", summary: "at most so many"),
            OptionEntry(
                name: "--concurrency", value: "N",
                summary: "so many at once; default \(RefreshSweep.defaultConcurrency)"),
            OptionEntry(name: "--rate", value: "N/s", summary: "begin at most so many a second, evenly spaced"),
            OptionEntry(name: "--dry-run", summary: "list who would be refreshed, and send nothing"),
            OptionEntry(
                name: "--force",
                summary: "beside an ID: send the kept tokens of one that needs a new consent once more"),
            OptionEntry(name: "--plan", summary: "say who would be refreshed when and why"),
            OptionEntry(
                name: "--simulate", value: "24h", summary: "count the calls of so long from now on, by the minute"),
            OptionEntry(name: "--svg", value: "FILE", summary: "write `--simulate`'s chart to it as well"),
        ])

    static let explain = CommandEntry(
        words: ["explain"], operands: "ID", summary: "how a grant stands, why, and what comes next",
        about: [
            "Says in sentences what the grant is, what came of its last refresh and whom that blames, what stands in "
                + "its way, when it is due and why, and what can be done; then its timeline. It changes nothing and "
                + "calls nobody."
        ])
}
