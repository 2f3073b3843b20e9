// SPDX-License-Identifier: Apache-2.0
import Consents
import ProviderClients
import Settings
import TokenVaults

/// Makes of a configured provider what its client needs.
extension ProviderDefinition {
    init(_ settings: ProviderSettings, _ credentials: ClientCredentials) {
        self.init(
            facts: ProviderFacts(settings), userinfoEndpoint: settings.endpoints.userinfo,
            revocationEndpoint: settings.endpoints.revocation,
            authentications: credentials.authentications,
            codeParameters: CodeParameters(
                sdk: settings.profile.sdkCodeParameters.map(RequestParameter.init),
                browser: settings.profile.browserCodeParameters.map(RequestParameter.init)),
            answers: AnswerRules(settings.profile, scopes: settings.scopes),
            claims: settings.profile.claims.compactMap(ProviderClients.ClaimRule.init),
            transport: ProviderTransport(
                http2: settings.connection.http2, caFile: settings.connection.caFile,
                proxy: settings.connection.proxy.map { SecretText($0.reveal()) },
                noProxy: settings.connection.noProxy, identity: credentials.identity))
    }
}

extension SecretOrder {
    /// By digests under the ring's index key, in the provider's row.
    init(of facts: ProviderFacts, _ store: any ConsentStore, _ vault: RingVault) {
        self.init(
            digest: { secret in
                vault.digest(ofClientSecret: secret, provider: facts.key, clientID: facts.issuer.clientID)
            },
            first: { (try? await store.firstSecret(of: facts.key)).flatMap { $0 } })
    }
}

extension ProviderFacts {
    convenience init(_ settings: ProviderSettings) {
        self.init(
            key: ProviderKey(name: settings.name, environment: settings.environment?.rawValue),
            // Where the endpoint is discovered, the grant belongs to whoever is discovered: the issuer.
            issuer: IssuingClient(
                clientID: settings.client.id, tokenEndpoint: settings.endpoints.token ?? settings.issuer ?? ""),
            isPayPal: settings.preset == "paypal", scopes: ScopeSet(settings.scopes),
            redirectURI: settings.redirectURI, allowedRedirectURIs: settings.redirectURIs,
            isPKCERequired: settings.pkce == .required, isNonceRequired: settings.nonce == .required,
            hasConstantCode: settings.environment == .mock,
            handsOutAccessTokens: settings.handsOutAccessTokens, profileMaxAge: settings.profileMaxAge,
            policy: RefreshPolicy(settings),
            timeouts: Consents.ProviderTimeouts(
                connect: settings.timeouts.connect, total: settings.timeouts.total,
                answer: settings.timeouts.answer),
            identity: IdentityRules(settings), revocationScope: settings.revocationScope == .grant ? .grant : .token)
    }
}

extension IdentityRules {
    init(_ settings: ProviderSettings) {
        let idToken: IDTokenUse =
            switch settings.idToken {
            case .required: .required
            case .optional: .optional
            case .ignored: .ignored
            }
        self.init(idToken: idToken, sharing: settings.onSharedSubject.map { $0 == .refuse ? .refuse : .warn })
    }
}

extension RefreshPolicy {
    init(_ settings: ProviderSettings) {
        let kind: Kind =
            switch settings.refresh.policy {
            case .keepAlive: .keepAlive
            case .keepFresh: .keepFresh
            case .onDemand: .onDemand
            }
        let reuse: Reuse =
            switch settings.refreshTokenReuse {
            case .forbidden: .forbidden
            case .static: .fixed
            case .grace(let window): .grace(window)
            }
        self.init(
            kind: kind, interval: settings.refresh.interval, reuse: reuse, idleLife: settings.idleLife,
            defaultLifetime: settings.defaultLifetime ?? .seconds(3600))
    }
}

extension AnswerRules {
    /// - Parameter scopes: those that the configuration asks for.
    init(_ profile: ProfileSettings, scopes: [String]) {
        self.init(
            codeErrors: profile.codeErrors.map(ProviderClients.ErrorRule.init),
            refreshErrors: profile.refreshErrors.map(ProviderClients.ErrorRule.init),
            correlationMembers: profile.correlationMembers, correlationHeaders: profile.correlationHeaders,
            lifetimeUnit: profile.lifetimeUnit == .milliseconds ? .milliseconds : .seconds,
            tokenMembers: Dictionary(
                profile.tokenMembers.compactMap { place in JSONPointer(place.text).map { (place.name, $0) } },
                uniquingKeysWith: { _, last in last }))
        isDeathConfirmed = profile.isDeathConfirmed
        expectedScopes = Set(scopes + profile.scopeClaims.map(\.scope) + AnswerRules.standardScopes)
    }

    /// OpenID Connect Core, sections 5.4 and 11.
    private static let standardScopes = ["openid", "profile", "email", "address", "phone", "offline_access"]
}

extension ProviderClients.ErrorRule {
    init(_ rule: ProfileSettings.ErrorRule) {
        let errorClass: ErrorClass =
            switch rule.errorClass {
            case .grantDead: .grantDead
            case .credentials: .credentials
            case .request: .request
            case .throttled: .throttled
            case .notProcessed: .notProcessed
            case .unknown: .unknown
            }
        self.init(
            statuses: rule.statuses, errors: rule.errors, descriptionContains: rule.descriptionContains,
            needsEmptyBody: rule.needsEmptyBody, errorClass: errorClass)
    }
}

extension ProviderClients.ClaimRule {
    init?(_ rule: ProfileSettings.ClaimRule) {
        let form: Form =
            switch rule.form {
            case .text: .text
            case .boolean: .boolean
            case .address: .address
            case .number: .number
            }
        self.init(claim: rule.claim, from: rule.from, form: form)
    }
}

extension RequestParameter {
    init(_ named: NamedText) { self.init(name: named.name, value: named.text) }
}
