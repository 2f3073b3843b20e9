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
            OptionEntry(
                name: "--provider", value: "P",
                summary: "of this provider, by its name; also of one that the configuration has no longer"),
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
            "Follows every consent's chain of events and prints a line on each chain that does not hold, with the "
                + "first event that is wrong, and on each field of a record that its chain tells otherwise. Exit "
                + "status 1 if there is one.",
            "Chains. `altered`: the event is not what was written there. `gap`: events are missing before the next. "
                + "`cut`: the last events are gone. `head_differs`: the record tells of another end of the chain. "
                + "`missing`: the record is gone, and something still tells of it. `record_differs`: the chain holds, "
                + "and the field of the record is not what it tells.",
            "`serve` and `job` make a signed checkpoint each hour, over all chains. Their signatures and their order "
                + "are verified as well, what was written between two of them is counted, and the last is made again "
                + "from the chains.",
            "Checkpoints. `altered`: its signature is not what the key makes of it. `key_unknown`: the ring does not "
                + "hold the key that signed it. `unsigned`: its signature was taken away. `order_broken`: it names "
                + "another one before it than the store has. `gone`: it is not in the store any more. `counts_differ`: "
                + "more or less was written since the one before than it tells. `root_differs`: the chains are not "
                + "the ones that it was made of. `replaced`: the store has another one of that number. "
                + "`newer_than_store`: it is later than the store's last.",
            "Three things show only by a checkpoint that was kept elsewhere: that the store was put back to an older "
                + "copy, that the last checkpoint was taken away before anything was written after it, and that events "
                + "from before it are gone with it. Name the last that a log tells of with `--since`. Events since "
                + "the last checkpoint that were cut, with the record mended, show by nothing.",
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
