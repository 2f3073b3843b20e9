// SPDX-License-Identifier: Apache-2.0
internal import NativeYAML

extension ProfileSettings {
    /// Reads a profile (`Config/providers/NAME.yaml`). What is wrong goes to the section's context.
    init(_ section: inout SectionReader) {
        name = section.requiredText("name")
        title = section.requiredText("title")
        presets = ProfilePresets(&section)
        sdkCodeParameters = section.namedTexts("sdk_code_parameters") ?? []
        browserCodeParameters = section.namedTexts("browser_code_parameters") ?? []
        codeLifetime = section.duration("code_lifetime")
        codeErrors = section.sections("code_errors").map(Self.errorRule)
        refreshErrors = section.sections("refresh_errors").map(Self.errorRule)
        isDeathConfirmed = section.boolean("confirm_grant_dead") ?? false
        correlationMembers = section.texts("correlation_members") ?? []
        correlationHeaders = section.texts("correlation_headers") ?? []
        lifetimeUnit = section.choice("lifetime_unit", of: LifetimeUnit.self) ?? .seconds
        tokenMembers = section.tokenMembers("token_members") ?? []
        scopeSeparator = section.text("scope_separator") ?? " "
        claims = section.sections("claims").map(Self.claimRule)
        scopeClaims = Self.scopeClaims(&section)
        allowsHS256 = section.boolean("allows_hs256") ?? false
        mockCodeReservation = section.duration("mock_code_reservation")
        examples = section.sections("examples").map(Self.example)
    }

    private static func errorRule(_ given: SectionReader) -> ErrorRule {
        var section = given
        defer { section.finish() }
        return ErrorRule(
            statuses: section.texts("statuses")?.compactMap { ScalarForms.wholeNumber($0) } ?? [],
            errors: section.texts("errors") ?? [],
            descriptionContains: section.text("description"),
            needsEmptyBody: section.boolean("empty_body") ?? false,
            errorClass: section.choice("class", of: ErrorClass.self) ?? .unknown)
    }

    private static func claimRule(_ given: SectionReader) -> ClaimRule {
        var section = given
        defer { section.finish() }
        return ClaimRule(
            claim: section.requiredText("claim"), from: section.texts("from") ?? [],
            form: section.choice("form", of: ClaimRule.Form.self) ?? .text)
    }

    private static func scopeClaims(_ section: inout SectionReader) -> [ScopeClaims] {
        guard var scopes = section.optionalSection("scope_claims") else { return [] }
        return scopes.keys.map { ScopeClaims(scope: $0.key, claims: scopes.texts($0.key) ?? []) }
    }

    private static func example(_ given: SectionReader) -> AnswerExample {
        var section = given
        defer { section.finish() }
        return AnswerExample(
            title: section.requiredText("title"),
            call: section.choice("call", of: AnswerExample.Call.self) ?? .code,
            status: section.integer("status", in: 100...599) ?? 0,
            headers: section.namedTexts("headers") ?? [],
            contentType: section.text("content_type") ?? "application/json",
            body: section.possiblyEmptyText("body"),
            expected: section.requiredText("expected"),
            expectedClaims: section.namedTexts("claims") ?? [],
            expectedTokens: section.namedTexts("tokens") ?? [])
    }
}

extension ProfilePresets {
    fileprivate init(_ section: inout SectionReader) {
        environments = section.namedSections("environments").compactMap(Self.environment)
        issuer = section.endpoint("issuer")
        endpoints = ProviderEndpoints(
            token: section.text("token_endpoint"), authorization: section.text("authorization_endpoint"),
            userinfo: section.text("userinfo_endpoint"), jwks: section.text("jwks_uri"),
            revocation: section.text("revocation_endpoint"))
        userinfoSchemas = section.namedTexts("userinfo_schemas") ?? []
        authentication =
            section.choice("token_endpoint_auth_method", of: ProviderClientSettings.Authentication.self) ?? .basic
        basicEncoding = section.choice("basic_encoding", of: ProviderClientSettings.BasicEncoding.self) ?? .rfc6749
        pkce = section.choice("pkce", of: ProviderSettings.PKCE.self) ?? .required
        nonce = section.choice("nonce", of: ProviderSettings.Nonce.self) ?? .optional
        idToken = section.choice("id_token", of: ProviderSettings.IDToken.self) ?? .required
        idTokenAlgorithms = section.algorithms("id_token_algorithms", of: ProviderSettings.knownIDTokenAlgorithms)
        authorizationParameters = section.namedTexts("authorization_parameters") ?? []
        refreshTokenScope = section.text("refresh_token_scope")
        refreshTokenReuse = section.refreshTokenReuse("refresh_token_reuse") ?? .forbidden
        idleLife = section.duration("idle_life")
        defaultLifetime = section.duration("default_lifetime")
        revocationScope = section.choice("revocation_scope", of: ProviderSettings.RevocationScope.self) ?? .token
    }

    private static func environment(_ name: String, _ given: SectionReader) -> EnvironmentPreset? {
        var section = given
        defer { section.finish() }
        guard let environment = ProviderSettings.Environment(rawValue: name) else { return nil }
        return EnvironmentPreset(
            environment: environment, apiURL: section.endpoint("api_url"),
            authorization: section.endpoint("authorization_endpoint"))
    }
}

extension SectionReader {
    /// `forbidden`, `static` or `{grace: 30s}`.
    mutating func refreshTokenReuse(_ key: String) -> RefreshTokenReuse? {
        let (node, override, path) = nodeOrOverride(key)
        if override == nil, let node, case .mapping = node.content {
            context.record(path, .line(node.line), value: nil)
            var section = SectionReader(
                node, at: path, place: .line(node.line), in: context, isCatalogued: true)
            defer { section.finish() }
            if let grace = section.duration("grace") { return .grace(grace) }
            if !section.has("grace") { section.fail("grace", "is missing; write {grace: 30s}, static or forbidden") }
            return nil
        }
        return value(key, "must be forbidden, static or {grace: 30s}") { text in
            ["forbidden": RefreshTokenReuse.forbidden, "static": .static][text]
        }
    }

    /// Where members of a token answer stand, each by a JSON pointer; nil where nothing is said.
    mutating func tokenMembers(_ key: String) -> [NamedText]? {
        guard let places = namedTexts(key) else { return nil }
        let known = [
            "access_token", "refresh_token", "id_token", "token_type", "expires_in", "scope",
            "refresh_token_expires_in",
        ]
        for place in places {
            if !known.contains(place.name) {
                fail(key, "has no member \(place.name); known are \(known.joined(separator: ", "))")
            } else if !place.text.hasPrefix("/") || !Self.hasWholeEscapes(place.text) {
                fail(key, "must name a place for \(place.name) such as /authed_user/\(place.name) (a JSON pointer)")
            }
        }
        return places
    }

    /// Whether each tilde is one of RFC 6901's two escapes.
    private static func hasWholeEscapes(_ pointer: String) -> Bool {
        pointer.split(separator: "~", omittingEmptySubsequences: false).dropFirst()
            .allSatisfy { $0.hasPrefix("0") || $0.hasPrefix("1") }
    }

    /// A text that may be empty, such as an answer's body.
    fileprivate mutating func possiblyEmptyText(_ key: String) -> String {
        guard let node = nodeOrOverride(key).node, case .scalar(let text, _) = node.content else { return "" }
        return text
    }
}
