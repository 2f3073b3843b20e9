// SPDX-License-Identifier: Apache-2.0
import Consents
import ProviderClients

/// What holds for every answer of a userinfo endpoint.
enum UserinfoProperties {
    static func check(_ input: [UInt8], _ breaches: inout Breaches) {
        let answer = AnswerText.answer(input)
        for profile in ProfileRules.all {
            let reader = ProfileReader(profile.claims, profile.answers)
            let outcome = reader.read(answer, sent: StatementProperties.sent)
            switch outcome {
            case .fetched(let fetched):
                breaches.expect((200...299).contains(answer.status), "status \(answer.status) brought a profile")
                check(fetched, profile.claims, &breaches)
            case .refused(let statement):
                breaches.expect([401, 403].contains(answer.status), "status \(answer.status) refuses a profile")
                StatementProperties.check(statement, answer.status, &breaches)
            case .untrusted, .notOffered: breaches.expect(false, "nothing was verified, and it says so")
            case .failed(let statement): StatementProperties.check(statement, answer.status, &breaches)
            }
            let again = reader.read(answer, sent: StatementProperties.sent)
            breaches.expect(words(outcome) == words(again), "the same answer was read twice, as two outcomes")
        }
    }

    private static func check(_ profile: Profile, _ rules: [ClaimRule], _ breaches: inout Breaches) {
        breaches.expect(!profile.claims.isEmpty || !profile.address.isEmpty, "an empty profile was fetched")
        let texts = profile.claims.values.compactMap { if case .text(let text) = $0 { text } else { nil } }
        for text in texts + profile.address.values {
            breaches.expect(text.utf8.contains { $0 > 0x20 }, "a claim is empty or blank")
        }
        for (name, value) in profile.claims {
            switch (name, value) {
            case (.emailVerified, .flag), (.phoneNumberVerified, .flag), (.verifiedAccount, .flag),
                (.updatedAt, .integer):
                break
            case (.emailVerified, _), (.phoneNumberVerified, _), (.verifiedAccount, _), (.updatedAt, _):
                breaches.expect(false, "\(name.rawValue) has another form than its rule says")
            default:
                if case .text = value { break }
                breaches.expect(false, "\(name.rawValue) is no text")
            }
        }
        let minimal = profile.minimised(to: ScopeSet(["openid"]), and: ScopeSet(["openid", "email"]))
        breaches.expect(
            minimal.claims.keys.allSatisfy { $0 == .sub } && minimal.address.isEmpty,
            "more than the granted scope's claims are left")
    }

    private static func words(_ outcome: ProfileOutcome) -> String {
        switch outcome {
        case .fetched(let profile):
            profile.claims.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: "\n")
                + profile.address.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: "\n")
        default: "\(outcome)"
        }
    }
}
