// SPDX-License-Identifier: Apache-2.0
import ProviderClients
import Settings

/// How one of the program's own profiles has its answers read.
struct ProfileRules: Sendable {
    var answers: AnswerRules
    let claims: [ProviderClients.ClaimRule]

    /// `generic` and every preset, and one whose tokens stand elsewhere.
    static let all: [ProfileRules] = {
        guard let profiles = try? BuiltInProfiles.load() else { return [] }
        var nested = ProfileRules(profiles.generic)
        for name in ["access_token", "refresh_token", "expires_in"] {
            nested.answers.tokenMembers[name] = JSONPointer("/authed_user/\(name)")
        }
        nested.answers.lifetimeUnit = .milliseconds
        return ([profiles.generic] + profiles.presets).map(ProfileRules.init) + [nested]
    }()

    init(_ profile: ProfileSettings) {
        answers = AnswerRules(
            codeErrors: profile.codeErrors.map(ProfileRules.rule),
            refreshErrors: profile.refreshErrors.map(ProfileRules.rule),
            correlationMembers: profile.correlationMembers, correlationHeaders: profile.correlationHeaders,
            lifetimeUnit: profile.lifetimeUnit == .seconds ? .seconds : .milliseconds,
            tokenMembers: Dictionary(
                profile.tokenMembers.compactMap { place in JSONPointer(place.text).map { (place.name, $0) } },
                uniquingKeysWith: { _, last in last }))
        claims = profile.claims.compactMap { rule in
            ProviderClients.ClaimRule.Form(rawValue: rule.form.rawValue)
                .flatMap { ProviderClients.ClaimRule(claim: rule.claim, from: rule.from, form: $0) }
        }
    }

    private static func rule(_ rule: ProfileSettings.ErrorRule) -> ProviderClients.ErrorRule {
        ProviderClients.ErrorRule(
            statuses: rule.statuses, errors: rule.errors, descriptionContains: rule.descriptionContains,
            needsEmptyBody: rule.needsEmptyBody, errorClass: ErrorClass(rawValue: rule.errorClass.rawValue) ?? .unknown)
    }
}
