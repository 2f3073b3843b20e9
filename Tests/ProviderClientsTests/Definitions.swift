// SPDX-License-Identifier: Apache-2.0
import Consents
import TestSupport

@testable import ProviderClients

/// Definitions as a configuration would make them.
enum Definitions {
    static func payPal(
        tokenEndpoint: String = "https://api-m.sandbox.paypal.com/v1/oauth2/token",
        userinfoEndpoint: String? =
            "https://api-m.sandbox.paypal.com/v1/identity/openidconnect/userinfo/?schema=openid",
        revocationEndpoint: String? = nil, answer: Duration = .seconds(20), total: Duration = .seconds(10)
    ) -> ProviderDefinition {
        ProviderDefinition(
            facts: facts("paypal", clientID: "ID", tokenEndpoint, answer: answer, total: total),
            userinfoEndpoint: userinfoEndpoint, revocationEndpoint: revocationEndpoint,
            authentications: [.basic(secret: SecretText("SECRET"), encoding: .rfc6749)],
            codeParameters: CodeParameters(
                sdk: [
                    RequestParameter(name: "response_type", value: "token"),
                    RequestParameter(name: "redirect_uri", value: "urn:ietf:wg:oauth:2.0:oob"),
                ],
                browser: [RequestParameter(name: "response_type", value: "token")]),
            answers: payPalRules, claims: claims, transport: transport)
    }

    static func generic(
        _ authentication: ClientAuthentication, clientID: String = "ID", redirectURI: String? = nil,
        revocationEndpoint: String? = nil, rules: AnswerRules = genericRules
    ) -> ProviderDefinition {
        ProviderDefinition(
            facts: facts(
                "acme", clientID: clientID, "https://login.acme.test/token", answer: .seconds(20),
                redirectURI: redirectURI),
            userinfoEndpoint: nil, revocationEndpoint: revocationEndpoint,
            authentications: [authentication], codeParameters: CodeParameters(sdk: [], browser: []), answers: rules,
            claims: claims, transport: transport)
    }

    private static func facts(
        _ name: String, clientID: String, _ tokenEndpoint: String, answer: Duration, total: Duration = .seconds(10),
        redirectURI: String? = nil
    ) -> ProviderFacts {
        ProviderFacts(
            key: ProviderKey(name: name, environment: nil),
            issuer: IssuingClient(clientID: clientID, tokenEndpoint: tokenEndpoint), isPayPal: name == "paypal",
            scopes: ScopeSet(["openid"]), redirectURI: redirectURI, allowedRedirectURIs: [], isPKCERequired: false,
            isNonceRequired: false, hasConstantCode: false, handsOutAccessTokens: false,
            profileMaxAge: .seconds(30 * 86_400),
            policy: RefreshPolicy(
                kind: .keepAlive, interval: .seconds(86_400), reuse: .fixed, idleLife: nil,
                defaultLifetime: .seconds(900)),
            timeouts: ProviderTimeouts(connect: .seconds(3), total: total, answer: answer),
            identity: IdentityRules(idToken: .ignored, sharing: nil), revocationScope: .token)
    }

    static let transport = ProviderTransport(http2: false, caFile: nil, proxy: nil, noProxy: [])

    static let payPalRules = AnswerRules(
        codeErrors: [
            rule([400, 401], ["invalid_request"], saying: "grant_type", .request),
            rule([400, 401], ["invalid_grant", "access_denied", "invalid_authz_code", "invalid_request"], .grantDead),
        ],
        refreshErrors: [
            rule([400, 401], ["invalid_request"], saying: "unable to refresh access token", .grantDead),
            rule([400, 401], ["access_denied"], .grantDead),
        ],
        correlationMembers: ["correlation_id", "debug_id"], correlationHeaders: ["Paypal-Debug-Id"],
        lifetimeUnit: .seconds, tokenMembers: [:])

    static let genericRules = AnswerRules(
        codeErrors: [rule([], ["bad_verification_code"], .grantDead)],
        refreshErrors: [
            rule([], ["bad_refresh_token"], saying: "incorrect or expired", .grantDead),
            ErrorRule(
                statuses: [410], errors: [], descriptionContains: nil, needsEmptyBody: true, errorClass: .grantDead),
            rule([420], [], .notProcessed), rule([418], [], .unknown), rule([409], [], .credentials),
        ],
        correlationMembers: [], correlationHeaders: [], lifetimeUnit: .seconds, tokenMembers: [:])

    static func rule(
        _ statuses: [Int], _ errors: [String], saying description: String? = nil, _ errorClass: ErrorClass
    ) -> ErrorRule {
        ErrorRule(
            statuses: statuses, errors: errors, descriptionContains: description, needsEmptyBody: false,
            errorClass: errorClass)
    }

    static let claims: [ClaimRule] = {
        var rules = [
            ClaimRule(claim: "sub", from: ["sub", "user_id"], form: .text),
            ClaimRule(claim: "birthdate", from: ["birthdate", "birthday"], form: .text),
            ClaimRule(claim: "updated_at", from: ["updated_at"], form: .number),
            ClaimRule(claim: "email", from: ["email", "emails[primary].value"], form: .text),
            ClaimRule(claim: "email_verified", from: ["email_verified", "emails[primary].confirmed"], form: .boolean),
            ClaimRule(claim: "phone_number_verified", from: ["phone_number_verified"], form: .boolean),
            ClaimRule(claim: "verified_account", from: ["verified_account"], form: .boolean),
            ClaimRule(claim: "address", from: ["address"], form: .address),
        ]
        for name in ["name", "given_name", "family_name", "locale", "phone_number", "payer_id", "account_type"] {
            rules.append(ClaimRule(claim: name, from: [name], form: .text))
        }
        return rules.compactMap(\.self)
    }()
}

extension ProviderAnswer {
    /// An answer whose body is that text, `application/json` unless told otherwise.
    init(_ status: Int, _ body: String, type: String? = "application/json", _ headers: [String: String] = [:]) {
        Canary.passed(Array(body.utf8), in: #fileID)
        self.init(
            status: status, headers: (type.map { [("Content-Type", $0)] } ?? []) + headers.map { ($0.key, $0.value) },
            body: Array(body.utf8))
    }
}

extension TokenOutcome {
    /// The case's name, and the reason or delay where there is one.
    var name: String {
        switch self {
        case .granted: "granted"
        case .rejected: "rejected"
        case .credentialsRefused: "credentials refused"
        case .requestRefused: "request refused"
        case .throttled(_, let delay): delay.map { "throttled \($0.wholeSeconds)" } ?? "throttled"
        case .notSent(let reason): "not sent: \(reason.rawValue)"
        case .unknown(let reason, _): "unknown: \(reason.rawValue)"
        case .unreadable: "unreadable"
        }
    }

    var granted: TokenAnswer? {
        if case .granted(let answer) = self { answer } else { nil }
    }

    var statement: ProviderStatement? {
        switch self {
        case .granted, .notSent: nil
        case .rejected(let statement), .credentialsRefused(let statement), .requestRefused(let statement),
            .throttled(let statement, _), .unknown(_, let statement), .unreadable(_, let statement):
            statement
        }
    }
}

/// 2026-01-01T00:00:00Z.
let newYear = Instant(milliseconds: 1_767_225_600_000)

extension RequestBuilder {
    /// With the first secret.
    convenience init(_ definition: ProviderDefinition) { self.init(definition, definition.authentications[0]) }

    // At the configured endpoints.

    func exchange(_ code: SecretText, _ parameters: ExchangeParameters) -> ProviderRequest {
        exchange(code, parameters, at: definition.facts.issuer.tokenEndpoint)
    }

    func refresh(_ refreshToken: SecretText) -> ProviderRequest {
        refresh(refreshToken, at: definition.facts.issuer.tokenEndpoint)
    }

    func revocation(_ token: SecretText, _ kind: TokenKind) -> ProviderRequest? {
        definition.revocationEndpoint.map {
            revocation(token, kind, at: $0, tokenEndpoint: definition.facts.issuer.tokenEndpoint)
        }
    }
}
