// SPDX-License-Identifier: Apache-2.0

/// Which of a provider's environments is meant, and where its API is.
struct ProviderPlace {
    let environment: ProviderSettings.Environment?
    private let preset: ProfilePresets.EnvironmentPreset?
    private let apiURL: String?
    private let userinfoSchema: String?
    private let isPresetKnown: Bool

    init(_ section: inout SectionReader, preset: ProfileSettings?) {
        let environment = section.choice("environment", of: ProviderSettings.Environment.self)
        let apiURL = section.endpoint("api_url")
        userinfoSchema = section.text("userinfo_schema")
        self.environment = environment
        let known = preset?.presets.environments.first { $0.environment == environment }
        self.preset = known
        isPresetKnown = preset != nil
        // Endpoints begin with a slash.
        self.apiURL = (apiURL ?? known?.apiURL).map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        if let preset {
            check(section, preset)
        } else if !section.has("preset") {
            // One that is not known is an error already.
            refuseWithoutPreset(section)
        }
    }

    private func check(_ section: SectionReader, _ profile: ProfileSettings) {
        let words = profile.presets.environments.map(\.environment.rawValue)
        if words.isEmpty {
            for key in ["environment", "api_url"] where section.has(key) {
                let places = profile.presets.endpoints.token == nil ? "no environments" : "one place, which it knows"
                section.fail(key, "the preset \(profile.name) has \(places); leave it out")
            }
        } else if !section.has("environment") {
            section.fail("environment", "is missing; write one of \(words.joined(separator: ", "))")
        } else if let environment, preset == nil {
            section.fail("environment", "the preset \(profile.name) has no environment \(environment.rawValue)")
        } else if preset != nil, apiURL == nil, !section.has("api_url") {
            section.fail("api_url", "is missing; environment: mock needs it, such as http://127.0.0.1:9400")
        }
    }

    private func refuseWithoutPreset(_ section: SectionReader) {
        for key in ["environment", "api_url", "userinfo_schema"] where section.has(key) {
            section.fail(key, "belongs to a preset; without one give the endpoints")
        }
    }

    /// The configured endpoints, else the preset's.
    func endpoints(_ section: inout SectionReader, _ facts: ProfilePresets) -> ProviderEndpoints {
        // A mistyped schema must not cost the other errors.
        let schema = schemaEndpoint(section, facts)
        let endpoints = ProviderEndpoints(
            token: section.endpoint("token_endpoint") ?? filledIn(facts.endpoints.token),
            authorization: section.endpoint("authorization_endpoint") ?? preset?.authorization
                ?? filledIn(facts.endpoints.authorization),
            userinfo: section.endpoint("userinfo_endpoint") ?? filledIn(schema ?? facts.endpoints.userinfo),
            jwks: section.endpoint("jwks_uri") ?? filledIn(facts.endpoints.jwks),
            revocation: section.endpoint("revocation_endpoint") ?? filledIn(facts.endpoints.revocation))
        let hasSource = section.has("issuer") || section.has("token_endpoint") || facts.endpoints.token != nil
        // Of a preset that is not known nobody knows what it has.
        if !hasSource, isPresetKnown || !section.has("preset") {
            let other = isPresetKnown ? "; the preset knows no addresses" : ", or a preset"
            section.fail("token_endpoint", "is missing; give it, or the issuer\(other)")
        }
        return endpoints
    }

    private func schemaEndpoint(_ section: SectionReader, _ facts: ProfilePresets) -> String? {
        guard let wanted = userinfoSchema else { return facts.userinfoSchemas.first?.text }
        if let schema = facts.userinfoSchemas.first(where: { $0.name == wanted }) { return schema.text }
        if !facts.userinfoSchemas.isEmpty {
            let names = facts.userinfoSchemas.map(\.name).joined(separator: ", ")
            section.fail("userinfo_schema", "is not known; known are \(names)")
        }
        return nil
    }

    private func filledIn(_ template: String?) -> String? {
        let mark = "{api_url}"
        guard let template else { return nil }
        guard template.hasPrefix(mark) else { return template }
        return apiURL.map { $0 + template.dropFirst(mark.count) }
    }
}

extension ProviderClientSettings {
    init(_ section: inout SectionReader, _ facts: ProfilePresets) {
        id = section.secret("client_id", literals: .plain)?.reveal() ?? ""
        if !section.has("client_id") { section.fail("client_id", "is missing; the provider gave you one") }
        secrets = section.oneOrMoreSecrets("client_secret", "client_secrets")
        authentication = section.choice("token_endpoint_auth_method", of: Authentication.self) ?? facts.authentication
        basicEncoding = section.choice("basic_encoding", of: BasicEncoding.self) ?? facts.basicEncoding
        privateKeys = section.oneOrMoreSecrets("private_key", "private_keys")
        certificatePath = section.filePath("client_certificate")
        signingAlgorithm = section.choice("token_endpoint_auth_signing_alg", of: SigningAlgorithm.self)
        assertionAudience = section.choice("assertion_audience", of: AssertionAudience.self) ?? .tokenEndpoint
        checkParts(section)
    }

    private func checkParts(_ section: SectionReader) {
        let hasSecret = section.has("client_secret") || section.has("client_secrets")
        switch authentication {
        case .basic, .post:
            if !hasSecret { section.fail("client_secret", "is missing; \(authentication.rawValue) needs it") }
        case .privateKeyJWT:
            if !section.has("private_key"), !section.has("private_keys") {
                section.fail("private_key", "is missing; private_key_jwt needs it")
            }
        case .tls:
            if certificatePath == nil { section.fail("client_certificate", "is missing; tls_client_auth needs it") }
        case .none: break
        }
        let method = "with token_endpoint_auth_method: \(authentication.rawValue)"
        if hasSecret, ![.basic, .post].contains(authentication) {
            let key = section.has("client_secret") ? "client_secret" : "client_secrets"
            section.fail(key, "is never sent \(method)")
        }
        checkKeys(section, method)
    }

    /// One method alone is used, so what belongs to another is a mistake that nobody would notice.
    private func checkKeys(_ section: SectionReader, _ method: String) {
        if section.has("private_key"), ![.privateKeyJWT, .tls].contains(authentication) {
            section.fail("private_key", "is not used \(method)")
        }
        if section.has("client_certificate"), authentication != .tls {
            section.fail("client_certificate", "is not used \(method)")
        }
        for key in ["private_keys", "token_endpoint_auth_signing_alg", "assertion_audience"]
        where section.has(key) && authentication != .privateKeyJWT {
            section.fail(key, "belongs to token_endpoint_auth_method: private_key_jwt")
        }
        if assertionAudience == .issuer, !section.has("issuer") {
            section.fail("assertion_audience", "names the issuer, which is missing; give it")
        }
    }
}
