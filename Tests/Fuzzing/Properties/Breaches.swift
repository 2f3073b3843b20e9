// SPDX-License-Identifier: Apache-2.0

/// What a reader did with one input that it must never do; empty where it kept all its promises.
package struct Breaches: Sendable {
    package private(set) var sentences: [String] = []

    package init() {}

    /// Notes the sentence where the promise does not hold.
    package mutating func expect(_ holds: Bool, _ sentence: @autoclosure () -> String) {
        if !holds { sentences.append(sentence()) }
    }
}

/// The readers that are fuzzed, by the names of their corpora (`Tests/Fuzzing/Corpus/NAME`).
package enum FuzzedReader: String, Sendable, CaseIterable {
    /// The bodies and the query of the consents' calls.
    case request
    /// What a token endpoint and a revocation endpoint answer.
    case token
    /// What a userinfo endpoint answers.
    case userinfo
    /// The configuration.
    case settings
    /// The head of a request: target, route, media types, trace, forwarded peer.
    case paths
    /// JSON as callers and as providers write it.
    case json
    /// The key ring's file, envelopes and what lies under them.
    case vault
    /// The answer journal's file.
    case journal
    /// Signed tokens, their headers and claims, key sets and discovery documents.
    case identity

    /// Reads the input as the program would, and holds the outcome against the reader's promises.
    package func breaches(_ input: [UInt8]) -> [String] {
        var breaches = Breaches()
        switch self {
        case .request: RequestProperties.check(input, &breaches)
        case .token: TokenProperties.check(input, &breaches)
        case .userinfo: UserinfoProperties.check(input, &breaches)
        case .settings: SettingsProperties.check(input, &breaches)
        case .paths: PathProperties.check(input, &breaches)
        case .json: JSONProperties.check(input, &breaches)
        case .vault: VaultProperties.check(input, &breaches)
        case .journal: JournalProperties.check(input, &breaches)
        case .identity: IdentityProperties.check(input, &breaches)
        }
        return breaches.sentences
    }
}
