// SPDX-License-Identifier: Apache-2.0
/// `provider …`.
extension CommandTable {
    static let providerList = CommandEntry(
        words: ["provider", "list"], summary: "configured providers, and built-in profiles",
        about: ["Prints a line on each provider of the configuration, and on each profile that it could build on."])

    static let providerShow = CommandEntry(
        words: ["provider", "show"], operands: "NAME", summary: "what is known of one, without its secrets",
        about: [
            "Prints a configured provider, or else a built-in profile, of that name: endpoints, how the client shows "
                + "who it is, what refusals mean, and where attributes stand. Never a secret."
        ])

    static let providerTest = CommandEntry(
        words: ["provider", "test"], operands: "NAME", summary: "its recorded answers, then one harmless call",
        about: [
            "Reads the profile's recorded answers as the gateway would, a line each. Then, for a configured provider, "
                + "asks the token endpoint once with a code that cannot be valid, and says whether it was reached and "
                + "whether it takes the client's credentials. Exit status 1 if any of it is wrong."
        ])
}
