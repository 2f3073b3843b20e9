// SPDX-License-Identifier: Apache-2.0
/// One configured provider, as the use cases see it.
package protocol ProviderConnection: Sendable {
    var facts: ProviderFacts { get }
    /// What verifies its ID tokens; nil where they are not looked at.
    var identity: (any IdentityCheck)? { get }
    /// Who it is in the answers of its authorization endpoint (RFC 9207, section 2.4).
    var answeringIssuer: AnsweringIssuer { get async }

    /// Spends a code. One request, listened to until `answer` and never sent again, but with the next client secret
    /// where the provider has refused ours, and so has taken nothing.
    func exchange(_ code: consuming AuthorizationCode, _ parameters: ExchangeParameters) async -> TokenOutcome
    /// Spends a refresh token, likewise. No `scope` parameter is sent.
    /// - Parameter fence: asked right before the first byte leaves; false keeps the request from being sent.
    func refresh(_ refreshToken: SecretText, fence: @escaping @Sendable () -> Bool) async -> TokenOutcome
    /// Asks the provider to revoke a token (RFC 7009).
    func revoke(_ token: SecretText, kind: TokenKind) async -> RevocationOutcome
    /// Asks userinfo for the attributes.
    /// - Parameter limit: how long to wait at most.
    func profile(accessToken: SecretText, limit: Duration) async -> ProfileOutcome
    /// Which of several client secrets has worked where another was thought to go first: news for the store, handed out
    /// once, after what the call brought is kept. Nil where there is none, as where one secret is configured.
    func takeProvenSecret() -> BlindIndex?
}

/// What the use cases must know of a provider; the rest is its adapter's.
package final class ProviderFacts: Sendable {
    package let key: ProviderKey
    package let issuer: IssuingClient
    package let isPayPal: Bool
    /// The scopes that the configuration asks for.
    package let scopes: ScopeSet
    package let redirectURI: String?
    package let allowedRedirectURIs: [String]
    package let isPKCERequired: Bool
    package let isNonceRequired: Bool
    /// A mock environment hands out one code for ever: its digest contains the subject and lasts 60 s.
    package let hasConstantCode: Bool
    /// `access_tokens: on`.
    package let handsOutAccessTokens: Bool
    /// How old a kept profile may be where nobody says.
    package let profileMaxAge: Duration
    package let policy: RefreshPolicy
    package let timeouts: ProviderTimeouts
    package let identity: IdentityRules
    package let revocationScope: RevocationScope

    package init(
        key: ProviderKey, issuer: IssuingClient, isPayPal: Bool, scopes: ScopeSet, redirectURI: String?,
        allowedRedirectURIs: [String], isPKCERequired: Bool, isNonceRequired: Bool, hasConstantCode: Bool,
        handsOutAccessTokens: Bool, profileMaxAge: Duration, policy: RefreshPolicy, timeouts: ProviderTimeouts,
        identity: IdentityRules, revocationScope: RevocationScope
    ) {
        self.key = key
        self.issuer = issuer
        self.isPayPal = isPayPal
        self.scopes = scopes
        self.redirectURI = redirectURI
        self.allowedRedirectURIs = allowedRedirectURIs
        self.isPKCERequired = isPKCERequired
        self.isNonceRequired = isNonceRequired
        self.hasConstantCode = hasConstantCode
        self.handsOutAccessTokens = handsOutAccessTokens
        self.profileMaxAge = profileMaxAge
        self.policy = policy
        self.timeouts = timeouts
        self.identity = identity
        self.revocationScope = revocationScope
    }
}

/// Whose name stands in the `iss` of authorization responses.
package enum AnsweringIssuer: Sendable, Equatable {
    case named(String)
    /// The configuration names no issuer.
    case notConfigured
    /// The issuer cannot be asked now how it writes its name.
    case unavailable
}

/// What the revocation of one token ends at a provider.
package enum RevocationScope: Sendable {
    case token
    /// All that the person granted to the client, whichever of its tokens it is.
    case grant
}

/// How long is waited: `total` is what a caller waits, `answer` how long a spent code or token is listened to.
package struct ProviderTimeouts: Sendable, Equatable {
    package var connect: Duration
    package var total: Duration
    package var answer: Duration

    package init(connect: Duration, total: Duration, answer: Duration) {
        self.connect = connect
        self.total = total
        self.answer = answer
    }
}

/// What goes with a code.
package struct ExchangeParameters: Sendable {
    /// An SDK code is exchanged with the SDK's own parameters, whatever the caller gave.
    package var isSDKCode: Bool
    package var redirectURI: String?
    package var codeVerifier: SecretText?

    package init(isSDKCode: Bool, redirectURI: String?, codeVerifier: SecretText?) {
        self.isSDKCode = isSDKCode
        self.redirectURI = redirectURI
        self.codeVerifier = codeVerifier
    }
}

/// What a token request came to, by what it means (refresh.md, the table of outcomes).
///
/// Indirect: it is handed through many functions, and then takes one pointer in the memory of each.
package indirect enum TokenOutcome: Sendable {
    case granted(TokenAnswer)
    /// The provider's own word that this code or refresh token is no good.
    case rejected(ProviderStatement)
    /// The provider refuses the gateway's credentials: the code or token is unspent.
    case credentialsRefused(ProviderStatement)
    /// The provider refuses the request as made: unspent as well.
    case requestRefused(ProviderStatement)
    /// Not processed; nobody may ask again before the delay is over.
    case throttled(ProviderStatement, retryAfter: Duration?)
    /// No byte left the gateway.
    case notSent(NotSentReason)
    /// It may have been processed, and no definite answer came.
    case unknown(UnknownReason, ProviderStatement)
    /// A 2xx in which no token can be read: spent. The body is for the sealed journal; empty where none was kept.
    case unreadable(SecretText, ProviderStatement)
}

/// Why no byte of a request left.
package enum NotSentReason: String, Sendable {
    case resolve, connect, tls, proxy, refusedAddress, fenced, configuration, stopped
    /// The issuer does not say where to send it.
    case discovery
    /// What is wrong with the provider's certificate; it, or the configured `ca_file`, needs somebody's hand.
    case certificateUntrusted, certificateExpired, certificateOfOtherHost, trustStoreUnreadable
}

/// Why nobody knows what became of a request.
package enum UnknownReason: String, Sendable {
    case timeout, reset, cutOff, secondSendPrevented, serverError, bodyTooLarge, undecodable, protocolError
}

/// What a provider said, cut to 200 characters and freed of every value that we sent.
package struct ProviderStatement: Sendable, Equatable {
    /// The HTTP status; 0 where no head arrived.
    package var status: Int
    package var error: String?
    package var errorDescription: String?
    package var correlationID: String?

    package init(status: Int, error: String? = nil, errorDescription: String? = nil, correlationID: String? = nil) {
        self.status = status
        self.error = error
        self.errorDescription = errorDescription
        self.correlationID = correlationID
    }
}

/// What a userinfo request came to.
package enum ProfileOutcome: Sendable {
    /// Normalised, not yet minimised.
    case fetched(Profile)
    /// The provider refuses it to this token.
    indirect case refused(ProviderStatement)
    /// There is no userinfo endpoint: what the provider tells of a person it tells in ID tokens.
    case notOffered
    /// A signed answer that is not what it should be, or that nobody here can verify: why, without anything of it.
    indirect case untrusted(reason: String)
    /// Nothing usable came; to be tried again.
    indirect case failed(ProviderStatement)
}
