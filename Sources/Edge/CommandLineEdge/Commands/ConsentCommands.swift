// SPDX-License-Identifier: Apache-2.0
import Consents

/// `consents …` and `verify`.
extension CommandTable {
    static let consentsList = CommandEntry(
        words: ["consents", "list"], summary: "records, newest first",
        about: [
            "Prints a line on each record that fits, newest first; with `--json` the records as the API answers them."
        ],
        options: [
            OptionEntry(
                name: "--subject", value: "S", summary: "of this subject; - reads it from the standard input"),
            OptionEntry(name: "--provider", value: "P", summary: "of this provider, by its name in the configuration"),
            OptionEntry(
                name: "--status", value: "STATUS",
                summary: "one of " + ConsentStatus.allCases.map(\.rawValue).joined(separator: ", ")),
            OptionEntry(
                name: "--limit", value: "N", summary: "at most so many; default \(ConsentFilter.defaultLimit)"),
        ])

    static let consentsShow = CommandEntry(
        words: ["consents", "show"], operands: "ID", summary: "one record",
        about: ["Prints the record as the API answers it, without attributes and tokens."])

    static let consentsRevoke = CommandEntry(
        words: ["consents", "revoke"], operands: "ID", summary: "withdraw one, for the reason `operator`",
        about: [
            "Ends the grant: its tokens and attributes are destroyed at once, the record stays, and is printed. "
                + "It cannot be undone. Once more changes nothing.",
            "What is to be revoked at the provider goes out with the running `serve`, or the next `job`.",
        ])

    static let consentsEvents = CommandEntry(
        words: ["consents", "events"], operands: "ID", summary: "its audit trail, oldest first",
        about: ["Prints a line on each event: its number, when, what, on whose call, and what belongs to it."])

    static let consentsReceipt = CommandEntry(
        words: ["consents", "receipt"], operands: "ID", summary: "its receipt, for the person or an auditor",
        about: [
            "Prints what was consented to, under which notice, and what became of it since (ISO/IEC TS 27560). With "
                + "`--json` it is the document as the API answers it: JSON-LD in the terms of the W3C Data Privacy "
                + "Vocabulary.",
            "What the gateway does not know is not in it: without a configured notice the controller, the purposes "
                + "and the jurisdiction.",
        ],
        options: [
            OptionEntry(name: "--jwt", value: nil, summary: "print it signed with the ring's evidence key (ES256)")
        ])

    static let verify = CommandEntry(
        words: ["verify"], summary: "follow the ledger, name what was altered or cut",
        about: [
            "Follows every consent's chain of events and prints a line on each chain that does not hold: `altered`, "
                + "`gap`, `cut`, `head_differs` or `missing`, with the first event that is wrong. Exit status 1 if "
                + "there is one.",
            "`serve` and `job` make a signed checkpoint each hour, over all chains. Their signatures and their order "
                + "are verified as well, what was written between two of them is counted, and the last is made again "
                + "from the chains.",
            "A store that was put back to an older copy shows only by a checkpoint that was kept elsewhere: name the "
                + "last that a log tells of with `--since`.",
            "It needs the ledger key and the evidence keys of the ring that the store was made with.",
        ],
        options: [
            OptionEntry(
                name: "--since", value: "CHECKPOINT",
                summary:
                    "this one must be there, and all that stood when it was made; its name as the log and `verify` "
                    + "print it")
        ])
}
