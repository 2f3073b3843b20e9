// SPDX-License-Identifier: Apache-2.0
/// `keys …`.
extension CommandTable {
    static let keysInit = CommandEntry(
        words: ["keys", "init"], summary: "make the vault's keys",
        about: [
            "Writes a new ring of keys to the file of `vault.keys`, with mode 0600; a file that is there is left as "
                + "it is. Keep a copy of it apart from the store's backups: without it nothing in the store can be "
                + "opened.",
            "Where the store of the configuration holds something that was sealed or signed with a ring, no other one "
                + "is made beside it.",
        ],
        options: [
            OptionEntry(
                name: "--force",
                summary: "make it all the same: what the store holds stays closed until its own ring is back")
        ])

    static let keysStatus = CommandEntry(
        words: ["keys", "status"], summary: "the vault's keys by name, never the keys",
        about: [
            "Prints where the ring comes from, and a line on each of its keys: whether it seals (the current one) or "
                + "opens only (a retired one), or signs evidence, and since when."
        ])

    static let keysAPICreate = CommandEntry(
        words: ["keys", "api", "create"], operands: "NAME", summary: "make a caller's key; it is printed once",
        about: [
            "Makes an API key, keeps its SHA-256 in the store and prints the key, this once. A running `serve` knows "
                + "it within 5 seconds. A name is given once, also after its key was revoked."
        ],
        options: [
            OptionEntry(
                name: "--scopes", value: "A,B",
                summary: "what it may do, at least one of consents:read, consents:write, profiles:read, tokens:read, "
                    + "admin (which implies no other)"),
            OptionEntry(name: "--expires", value: "90d", summary: "good for so long; else until it is revoked"),
            OptionEntry(
                name: "--output", value: "FILE", summary: "write the key to a new file with mode 0600 instead"),
        ])

    static let keysAPIList = CommandEntry(
        words: ["keys", "api", "list"], summary: "callers' keys, their scopes and last use",
        about: [
            "Prints a line on each key of the store and of `auth.api_keys`: whether it is good, what it may do, until "
                + "when, and when it was last used (to within some minutes; not known for those of the configuration)."
        ])

    static let keysAPIRevoke = CommandEntry(
        words: ["keys", "api", "revoke"], operands: "NAME", summary: "end a caller's key",
        about: [
            "Ends a key of the store for good; its name stays taken. A running `serve` refuses it within 5 seconds. "
                + "Once more changes nothing. A key of `auth.api_keys` is ended in the configuration."
        ])
}
