// SPDX-License-Identifier: Apache-2.0
import NativeSystem

extension ProviderSettings {
    init(name: String, _ given: SectionReader, profiles: BuiltInProfiles) {
        var section = given
        defer { section.finish() }
        Self.checkName(name, section)
        self.name = name
        let preset = Self.preset(&section, profiles)
        let facts = preset?.presets ?? profiles.generic.presets
        self.preset = preset?.name
        profile = preset ?? profiles.generic
        if let unit = section.choice("lifetime_unit", of: ProfileSettings.LifetimeUnit.self) {
            profile.lifetimeUnit = unit
        }
        if let places = section.tokenMembers("token_members") { profile.tokenMembers = places }
        let place = ProviderPlace(&section, preset: preset)
        environment = place.environment
        issuer = section.endpoint("issuer") ?? preset?.presets.issuer
        endpoints = place.endpoints(&section, facts)
        client = ProviderClientSettings(&section, facts)
        scopes = section.texts("scopes", Self.scopeProblem) ?? []
        authorizationParameters = section.namedTexts("authorization_parameters") ?? facts.authorizationParameters
        pkce = section.choice("pkce", of: PKCE.self) ?? facts.pkce
        nonce = section.choice("nonce", of: Nonce.self) ?? facts.nonce
        idToken = section.choice("id_token", of: IDToken.self) ?? facts.idToken
        idTokenAlgorithms =
            Self.idTokenAlgorithms(&section, allowsHS256: profile.allowsHS256) ?? facts.idTokenAlgorithms
            ?? Self.usualIDTokenAlgorithms
        trustedAudiences = section.texts("trusted_audiences") ?? []
        redirectURI = section.redirectURI("redirect_uri")
        redirectURIs = section.texts("redirect_uris", SectionReader.redirectProblem) ?? []
        handsOutAccessTokens = section.choice("access_tokens", of: OnOff.self) == .on
        refreshTokenReuse = section.refreshTokenReuse("refresh_token_reuse") ?? facts.refreshTokenReuse
        idleLife = section.duration("idle_life") ?? facts.idleLife
        refresh = RefreshPolicySettings(section.section("refresh"), idleLife: idleLife)
        defaultLifetime = section.duration("default_lifetime") ?? facts.defaultLifetime
        revocationScope = section.choice("revocation_scope", of: RevocationScope.self) ?? facts.revocationScope
        profileMaxAge = Self.profileMaxAge(section.section("profile"))
        // Without an ID token whoever holds the access token says who it is; then it is looked for where it is asked for,
        // or where one consent's withdrawal may end another.
        let isWatched = section.has("on_shared_subject") || idToken != .ignored || revocationScope == .grant
        onSharedSubject = section.choice("on_shared_subject", of: OnSharedSubject.self) ?? (isWatched ? .warn : nil)
        timeouts = ProviderTimeouts(section.section("timeouts"))
        rateLimit = section.rate("rate_limit")
        connection = ProviderConnectionSettings(&section)
        checkRefreshScope(section, facts)
        checkIdentity(section)
    }

    /// What ID tokens are held against must be known, and a nonce needs one.
    private func checkIdentity(_ section: SectionReader) {
        if idToken != .ignored, issuer == nil, preset != nil || !section.has("preset") {
            section.fail(
                section.has("id_token") ? "id_token" : "issuer",
                "ID tokens need an issuer; give issuer, or write id_token: ignored, and userinfo tells who it is")
        }
        if nonce == .required, idToken == .ignored {
            section.fail("nonce", "stands in ID tokens, which id_token: ignored does not look at; leave it out")
        }
        // RFC 9700, section 2.1.1: without either, whoever finds a code can have it exchanged.
        if client.authentication == .none, pkce != .required {
            section.fail(
                section.has("pkce") ? "pkce" : "token_endpoint_auth_method",
                "a client that shows no secret must use PKCE: write pkce: required, or another "
                    + "token_endpoint_auth_method")
        }
        guard idTokenAlgorithms.contains("HS256") else { return }
        let isShort = client.secrets.contains { $0.reveal().utf8.count < 32 }
        // One that could not be had has its own error.
        let isMissing = !section.has("client_secret") && !section.has("client_secrets")
        if section.context.readsSecrets, isMissing || isShort {
            section.fail("id_token_algorithms", "HS256 needs a client secret of at least 32 bytes")
        }
    }

    private enum OnOff: String, CaseIterable { case on, off }

    private static func checkName(_ name: String, _ section: SectionReader) {
        let isPlain = name.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte) || byte == 0x2d || byte == 0x5f
        }
        guard isPlain, !name.contains("__"), (1...64).contains(name.utf8.count) else {
            let rule = "must be lower-case letters, digits, - and single _, 64 at most: it stands in URLs and variables"
            return section.context.fail(section.path, section.place, "the name \(rule)")
        }
    }

    private static func preset(_ section: inout SectionReader, _ profiles: BuiltInProfiles) -> ProfileSettings? {
        guard let name = section.text("preset") else { return nil }
        if let profile = profiles.presets.first(where: { $0.name == name }) { return profile }
        let names = profiles.presets.map(\.name)
        let hint = nearest(to: name, among: names).map { "did you mean \($0)?" }
        section.fail("preset", "is not known; \(hint ?? "known are \(names.joined(separator: ", "))")")
        return nil
    }

    private static func scopeProblem(_ scope: String) -> String? {
        // RFC 6749, section 3.3.
        let isScope = scope.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c }
        return isScope ? nil : "is no scope; write each as an entry of the list, without blanks and quotes"
    }

    private static let usualIDTokenAlgorithms = ["RS256", "PS256", "ES256", "EdDSA"]
    /// Those with a public key.
    static let knownIDTokenAlgorithms =
        usualIDTokenAlgorithms + ["RS384", "RS512", "PS384", "PS512", "ES384", "ES512"]

    private static func idTokenAlgorithms(_ section: inout SectionReader, allowsHS256: Bool) -> [String]? {
        section.algorithms("id_token_algorithms", of: knownIDTokenAlgorithms + (allowsHS256 ? ["HS256"] : []))
    }

    /// What must be asked for to get a refresh token.
    private func checkRefreshScope(_ section: SectionReader, _ facts: ProfilePresets) {
        guard let scope = facts.refreshTokenScope, !scopes.contains(scope) else { return }
        let path = section.path.appending(.key("scopes"))
        section.context.warn(
            path, section.context.place(of: path) ?? section.place,
            "without \(scope) the provider gives no refresh token, and a grant ends with its first access token")
    }

    private static func profileMaxAge(_ given: SectionReader) -> Duration {
        var section = given
        defer { section.finish() }
        return section.duration("max_age") ?? .seconds(30 * 86_400)
    }
}

extension RefreshPolicySettings {
    /// Without an interval: 30 days, or less where half the idle life is less.
    fileprivate init(_ given: SectionReader, idleLife: Duration?) {
        var section = given
        defer { section.finish() }
        policy = section.choice("policy", of: Policy.self) ?? .keepAlive
        let usual = Duration.seconds(30 * 86_400)
        interval = section.duration("interval") ?? idleLife.map { min(usual, $0 / 2) } ?? usual
        if policy != .keepAlive, section.has("interval") {
            section.fail("interval", "belongs to policy: keep_alive")
        }
        if policy == .keepAlive, let idleLife, interval > idleLife / 2 {
            section.fail("interval", "is over half of idle_life: grants would lapse; give at most half of it")
        }
    }
}

extension ProviderTimeouts {
    fileprivate init(_ given: SectionReader) {
        var section = given
        defer { section.finish() }
        connect = section.duration("connect") ?? .seconds(3)
        total = section.duration("total") ?? .seconds(10)
        answer = section.duration("answer") ?? .seconds(60)
        if connect > total { section.fail("connect", "is over total; give at most as much") }
        if total > answer { section.fail("answer", "is under total; answers are listened to for at least as long") }
    }
}

extension ProviderConnectionSettings {
    fileprivate init(_ section: inout SectionReader) {
        http2 = section.boolean("http2") ?? false
        caFile = section.filePath("ca_file")
        let environment = section.context.environment
        let proxy = section.secret("proxy", literals: .url)
        if let proxy, let problem = Self.proxyProblem(proxy.reveal()) { section.fail("proxy", problem) }
        self.proxy = proxy ?? Self.environmentProxy(environment)
        noProxy = section.texts("no_proxy", Self.noProxyProblem) ?? Self.environmentNoProxy(environment)
        allowHosts = section.texts("allow_hosts") ?? []
    }

    private static func proxyProblem(_ text: String) -> String? {
        guard !text.isEmpty else { return nil }
        guard let address = WebAddress(text), ["http", "https", "socks5h"].contains(address.scheme) else {
            return "is no proxy; write http://host:port, https://host:port or socks5h://host:port"
        }
        return address.target.isEmpty || address.target == "/" ? nil : "must not have a path"
    }

    private static func noProxyProblem(_ text: String) -> String? {
        let isHost = text.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != 0x2c && $0 != 0x2f }
        return isHost || IPNetwork(text) != nil ? nil : "is no host, .suffix or network"
    }

    /// As curl has it, for https; lower case first.
    static func environmentProxy(_ environment: [String: String]) -> SettingsSecret? {
        for name in ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
            if let text = environment[name], !text.isEmpty {
                return SettingsSecret(text, from: .environment(name: name))
            }
        }
        return nil
    }

    static func environmentNoProxy(_ environment: [String: String]) -> [String] {
        let text = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
        return text.split { $0 == "," || $0 == " " }.map(String.init)
    }
}

extension SectionReader {
    mutating func redirectURI(_ key: String) -> String? {
        guard let text = text(key) else { return nil }
        if let problem = Self.redirectProblem(text) { fail(key, problem) }
        return text
    }

    /// What is wrong with a redirect URI (RFC 6749, section 3.1.2; RFC 8252 for an app's own scheme); nil: nothing.
    static func redirectProblem(_ text: String) -> String? {
        let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
        guard isPlain, let scheme = WebAddress.scheme(of: text) else { return "is no absolute URI" }
        guard !text.contains("#") else { return "must not have a fragment" }
        switch scheme.lowercased() {
        case "https": return WebAddress(text).map { $0.hasUser } == false ? nil : "is no https URL without a user"
        case "http":
            return WebAddress(text)?.isLoopback == true ? nil : "plain http is for this machine only; use https"
        case "javascript", "data", "file", "about", "blob": return "must not have the scheme \(scheme)"
        default: return nil
        }
    }
}
