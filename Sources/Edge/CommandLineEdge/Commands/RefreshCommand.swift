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
        ],
        plannedOptions: ["--force", "--plan", "--simulate", "--svg"])
}
