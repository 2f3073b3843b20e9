// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents
import ProviderClients
import Settings

/// A profile's recorded answers, read as the gateway reads live ones.
struct RecordedAnswers: Sendable {
    private let profile: ProfileSettings

    init(_ profile: ProfileSettings) { self.profile = profile }

    /// A line each, in the order of the profile.
    func findings(at now: Instant) -> [CheckFinding] {
        profile.examples.map { example in
            let read = reading(of: example, now: now)
            let sentence = "\(example.call.rawValue): \(example.title): "
            return read.contains(example.expected)
                ? CheckFinding(.ok, sentence + example.expected)
                : CheckFinding(.error, sentence + "read as \(read[0]), not as \(example.expected)")
        }
    }

    /// The words that the outcome may be called; there is at least one.
    private func reading(of example: ProfileSettings.AnswerExample, now: Instant) -> [String] {
        let answer = ProviderAnswer(
            status: example.status,
            headers: [("Content-Type", example.contentType)] + example.headers.map { ($0.name, $0.text) },
            body: Array(example.body.utf8))
        let rules = AnswerRules(profile, scopes: [])
        switch example.call {
        case .code, .refresh:
            let call: TokenReader.Call = example.call == .code ? .code : .refresh
            let outcome = TokenReader(rules).read(answer, to: call, sent: [], now: now)
            guard case .granted(let granted) = outcome else { return words(outcome) }
            let wrong = example.expectedTokens.first { granted.text(of: $0.name) != $0.text }
            return [wrong.map { "tokens with another \($0.name)" } ?? "success"]
        case .userinfo:
            let claims = profile.claims.compactMap(ProviderClients.ClaimRule.init)
            guard case .fetched(let fetched) = ProfileReader(claims, rules).read(answer, sent: []) else {
                return example.expected == "success" ? ["no profile"] : [example.expected]
            }
            let wrong = example.expectedClaims.first { (text(fetched, $0.name) ?? "none") != $0.text }
            return [wrong.map { "a profile with another \($0.name)" } ?? "success"]
        }
    }

    private func words(_ outcome: TokenOutcome) -> [String] {
        switch outcome {
        case .granted: ["success"]
        case .rejected: ["grant_dead"]
        case .credentialsRefused: ["credentials"]
        case .requestRefused: ["request"]
        case .throttled: ["throttled", "not_processed"]
        case .notSent: ["not_processed"]
        case .unknown: ["unknown"]
        case .unreadable: ["unreadable"]
        }
    }

    private func text(_ profile: Profile, _ name: String) -> String? {
        switch ClaimName(rawValue: name).flatMap({ profile.claims[$0] }) {
        case .text(let text): text
        case .flag(let flag): String(flag)
        case .integer(let integer): String(integer)
        case nil: AddressPart(rawValue: name).flatMap { profile.address[$0] }
        }
    }
}
