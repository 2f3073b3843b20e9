// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents
import Settings

/// `provider list` and `provider show`: what is configured and built in, without a secret.
enum ProviderCommands {
    static func list(_ settings: GatewaySettings, json: Bool) -> CommandOutput {
        do throws(SettingsErrors) {
            let profiles = try BuiltInProfiles.load()
            return ProviderOutput.list(
                configured: settings.providers.map { ProviderLine(name: $0.name, summary: summary($0)) },
                profiles: all(profiles).map { ProviderLine(name: $0.name, summary: $0.title) }, json: json)
        } catch {
            return StartFailure(error).output
        }
    }

    static func show(_ name: String, _ settings: GatewaySettings, json: Bool) -> CommandOutput {
        if let provider = settings.provider(named: name) {
            return ProviderOutput.show(ProviderSheet(provider), json: json)
        }
        do throws(SettingsErrors) {
            guard let profile = all(try BuiltInProfiles.load()).first(where: { $0.name == name }) else {
                return notThere(name)
            }
            return ProviderOutput.show(ProviderSheet(profile), json: json)
        } catch {
            return StartFailure(error).output
        }
    }

    static func notThere(_ name: String) -> CommandOutput {
        .failure(
            "no provider is configured as '\(name)', and no profile is built in under that name", status: .partlyDone)
    }

    static func all(_ profiles: BuiltInProfiles) -> [ProfileSettings] { [profiles.generic] + profiles.presets }

    private static func summary(_ provider: ProviderSettings) -> String {
        let kind = provider.preset.map { "preset \($0)" } ?? "generic"
        let environment = provider.environment.map { ", \($0.rawValue)" } ?? ""
        return kind + environment + ", " + (provider.endpoints.token ?? "token endpoint by discovery")
    }
}

extension ProviderSheet {
    /// A configured provider, with what its profile fills in.
    init(_ settings: ProviderSettings) {
        let endpoints = settings.endpoints
        let facts = [
            Fact("preset", settings.preset), Fact("environment", settings.environment?.rawValue),
            Fact("issuer", settings.issuer), settings.place("token_endpoint", endpoints.token),
            settings.place("authorization_endpoint", endpoints.authorization),
            settings.place("userinfo_endpoint", endpoints.userinfo),
            settings.usesDiscovery
                ? settings.place("revocation_endpoint", endpoints.revocation)
                : ProviderSheet.revocation(endpoints.revocation),
            settings.place("jwks_uri", endpoints.jwks), Fact("client_id", settings.client.id),
            Fact("token_endpoint_auth_method", settings.client.authentication.rawValue),
            Fact("basic_encoding", settings.client.basicEncoding.rawValue),
            Fact("scopes", settings.scopes.joined(separator: " ")), Fact("pkce", settings.pkce.rawValue),
            Fact("nonce", settings.nonce.rawValue), Fact("id_token", settings.idToken.rawValue),
            Fact("id_token_algorithms", settings.idTokenAlgorithms.joined(separator: " ")),
            Fact("authorization_parameters", ProviderSheet.text(settings.authorizationParameters)),
            Fact("redirect_uri", settings.redirectURI),
            Fact("access_tokens", settings.handsOutAccessTokens ? "on" : "off"),
            Fact("refresh", settings.refresh.policy.rawValue + " every " + durationText(settings.refresh.interval)),
            Fact("refresh_token_reuse", reuseText(settings.refreshTokenReuse)),
            Fact("idle_life", settings.idleLife.map(durationText)),
            Fact("default_lifetime", settings.defaultLifetime.map(durationText)),
            Fact("revocation_scope", settings.revocationScope.rawValue),
            Fact("timeouts", ProviderSheet.text(settings.timeouts)),
        ]
        self.init(name: settings.name, facts: facts + settings.furtherFacts, profile: settings.profile)
    }

    /// A profile by itself: what it fills in.
    init(_ profile: ProfileSettings) {
        let presets = profile.presets
        let environments = presets.environments.map { environment in
            Fact("environment \(environment.environment.rawValue)", environment.apiURL ?? "api_url must be given")
        }
        let facts = [
            Fact("issuer", presets.issuer), Fact("token_endpoint", presets.endpoints.token),
            Fact("authorization_endpoint", presets.endpoints.authorization),
            Fact("userinfo_endpoint", presets.endpoints.userinfo ?? presets.userinfoSchemas.first?.text),
            // A profile without endpoints of its own leaves this one to the configuration too.
            presets.endpoints.token == nil
                ? Fact("revocation_endpoint", nil) : ProviderSheet.revocation(presets.endpoints.revocation),
            Fact("token_endpoint_auth_method", presets.authentication.rawValue),
            Fact("basic_encoding", presets.basicEncoding.rawValue), Fact("pkce", presets.pkce.rawValue),
            Fact("nonce", presets.nonce.rawValue), Fact("id_token", presets.idToken.rawValue),
            Fact("id_token_algorithms", presets.idTokenAlgorithms?.joined(separator: " ")),
            Fact("authorization_parameters", ProviderSheet.text(presets.authorizationParameters)),
            Fact("refresh_token_scope", presets.refreshTokenScope),
            Fact("refresh_token_reuse", reuseText(presets.refreshTokenReuse)),
            Fact("idle_life", presets.idleLife.map(durationText)),
            Fact("default_lifetime", presets.defaultLifetime.map(durationText)),
            Fact("revocation_scope", presets.revocationScope.rawValue),
        ]
        self.init(name: profile.name, facts: environments + facts, profile: profile)
    }

    /// Without one a withdrawal ends here, and at the provider when its tokens do.
    private static func revocation(_ endpoint: String?) -> Fact {
        Fact("revocation_endpoint", endpoint, none: "it is not told of a withdrawal, its tokens lapse there")
    }

    private init(name: String, facts: [Fact], profile: ProfileSettings) {
        self.init(
            name: name, title: profile.title,
            facts: facts + [Fact("recorded_answers", String(profile.examples.count))],
            codeRefusals: profile.codeErrors.map(Refusal.init),
            refreshRefusals: profile.refreshErrors.map(Refusal.init),
            claims: profile.claims.map { Fact($0.claim, $0.from.joined(separator: ", ")) })
    }

    /// `access_type=offline, prompt=consent`; nil for none.
    private static func text(_ parameters: [NamedText]) -> String? {
        parameters.isEmpty ? nil : parameters.map { "\($0.name)=\($0.text)" }.joined(separator: ", ")
    }

    private static func text(_ timeouts: Settings.ProviderTimeouts) -> String {
        let parts = [("connect", timeouts.connect), ("total", timeouts.total), ("answer", timeouts.answer)]
        return parts.map { "\($0.0) \(durationText($0.1))" }.joined(separator: ", ")
    }
}

extension ProviderSheet.Refusal {
    init(_ rule: ProfileSettings.ErrorRule) {
        var signs: [String] = []
        if !rule.statuses.isEmpty { signs.append("status " + rule.statuses.map(String.init).joined(separator: " or ")) }
        if !rule.errors.isEmpty { signs.append("error " + rule.errors.joined(separator: " or ")) }
        if let part = rule.descriptionContains { signs.append("\"\(part)\" in the description") }
        if rule.needsEmptyBody { signs.append("an empty body") }
        self.init(signs: signs.joined(separator: ", "), meaning: rule.errorClass.rawValue)
    }
}

private func reuseText(_ reuse: RefreshTokenReuse) -> String {
    switch reuse {
    case .forbidden: "forbidden"
    case .static: "static"
    case .grace(let window): "grace " + durationText(window)
    }
}

/// As the configuration writes it: `180d`, `15m`, `500ms`.
func durationText(_ duration: Duration) -> String {
    let parts = duration.components
    let milliseconds = parts.seconds * 1000 + parts.attoseconds / 1_000_000_000_000_000
    for (unit, size) in [("d", Int64(86_400_000)), ("h", 3_600_000), ("m", 60_000), ("s", 1000)]
    where milliseconds != 0 && milliseconds % size == 0 { return "\(milliseconds / size)\(unit)" }
    return "\(milliseconds)ms"
}
