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
                + "who it is, what refusals mean, and where attributes stand. Never a secret. It asks nobody: what "
                + "comes by discovery is told as that."
        ])

    static let providerTest = CommandEntry(
        words: ["provider", "test"], operands: "NAME", summary: "its recorded answers, then a probe of each endpoint",
        about: [
            "Reads the profile's recorded answers as the gateway would, a line each. Then, for a configured provider, "
                + "asks each endpoint, and says whether it was reached and what it made of that: with an `issuer` its "
                + "discovery and keys; the token endpoint with a code that cannot be valid, once for each of the "
                + "client's secrets or keys; the userinfo and revocation endpoints, where there are such, with a token "
                + "that cannot be valid. No code and no token of a person is sent. Exit status 1 if any of it is wrong."
        ])
}
