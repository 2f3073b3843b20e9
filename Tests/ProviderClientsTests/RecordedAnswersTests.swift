// SPDX-License-Identifier: Apache-2.0
import Consents
import ProviderClients
import Settings
import Testing

@Suite("The profiles' recorded answers")
struct RecordedAnswersTests {
    static let recorded: [(profile: ProfileSettings, example: ProfileSettings.AnswerExample)] = {
        guard let profiles = try? BuiltInProfiles.load() else { return [] }
        return ([profiles.generic] + profiles.presets).flatMap { profile in profile.examples.map { (profile, $0) } }
    }()

    @Test("there are some, for each call and profile")
    func some() {
        let names = Set(RecordedAnswersTests.recorded.map(\.profile.name))
        #expect(names.contains("generic") && names.contains("paypal"))
        for name in names {
            let calls = RecordedAnswersTests.recorded.filter { $0.profile.name == name }.map(\.example.call)
            #expect(Set(calls) == Set(ProfileSettings.AnswerExample.Call.allCases))
        }
    }

    @Test("each is read as its profile says", arguments: recorded.indices)
    func reading(index: Int) {
        let (profile, example) = RecordedAnswersTests.recorded[index]
        check(profile, example)
    }

    func check(_ profile: ProfileSettings, _ example: ProfileSettings.AnswerExample) {
        let answer = ProviderAnswer(
            status: example.status,
            headers: [("Content-Type", example.contentType)] + example.headers.map { ($0.name, $0.text) },
            body: Array(example.body.utf8))
        let rules = rules(of: profile)
        switch example.call {
        case .code, .refresh:
            let outcome = TokenReader(rules).read(
                answer, to: example.call == .code ? .code : .refresh, sent: [], now: newYear)
            #expect(names(outcome).contains(example.expected), "\(profile.name): \(example.title)")
            for member in example.expectedTokens {
                #expect(
                    outcome.granted?.text(of: member.name) == member.text,
                    "\(profile.name): \(example.title): \(member.name)")
            }
        case .userinfo:
            let outcome = ProfileReader(claims(of: profile), rules).read(answer, sent: [])
            guard case .fetched(let fetched) = outcome else {
                #expect(example.expected != "success", "\(profile.name): \(example.title)")
                return
            }
            #expect(example.expected == "success", "\(profile.name): \(example.title)")
            for claim in example.expectedClaims {
                #expect(
                    (text(fetched, claim.name) ?? "none") == claim.text,
                    "\(profile.name): \(example.title): \(claim.name)")
            }
        }
    }

    @Test("every claim rule of a profile names a claim")
    func claimRules() throws {
        let profiles = try BuiltInProfiles.load()
        for profile in [profiles.generic] + profiles.presets {
            #expect(claims(of: profile).count == profile.claims.count)
        }
    }

    /// The words that a profile may use for an outcome: 503 may be called either of two.
    private func names(_ outcome: TokenOutcome) -> [String] {
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

    func rules(of profile: ProfileSettings) -> AnswerRules {
        AnswerRules(
            codeErrors: profile.codeErrors.map(rule), refreshErrors: profile.refreshErrors.map(rule),
            correlationMembers: profile.correlationMembers, correlationHeaders: profile.correlationHeaders,
            lifetimeUnit: profile.lifetimeUnit == .seconds ? .seconds : .milliseconds,
            tokenMembers: Dictionary(
                uniqueKeysWithValues: profile.tokenMembers.compactMap { place in
                    JSONPointer(place.text).map { (place.name, $0) }
                }))
    }

    private func rule(_ rule: ProfileSettings.ErrorRule) -> ErrorRule {
        ErrorRule(
            statuses: rule.statuses, errors: rule.errors, descriptionContains: rule.descriptionContains,
            needsEmptyBody: rule.needsEmptyBody, errorClass: ErrorClass(rawValue: rule.errorClass.rawValue) ?? .unknown)
    }

    private func claims(of profile: ProfileSettings) -> [ClaimRule] {
        profile.claims.compactMap { rule in
            ClaimRule(rawClaim: rule)
        }
    }
}

extension ClaimRule {
    fileprivate init?(rawClaim rule: ProfileSettings.ClaimRule) {
        guard let form = Form(rawValue: rule.form.rawValue) else { return nil }
        self.init(claim: rule.claim, from: rule.from, form: form)
    }
}
