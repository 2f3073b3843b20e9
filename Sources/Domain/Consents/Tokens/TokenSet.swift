// SPDX-License-Identifier: Apache-2.0
/// What a grant consists of, as it lies under one seal.
package struct TokenSet: Sendable, Equatable {
    package var accessToken: SecretText
    package var tokenType: String
    package var refreshToken: SecretText?
    /// What is kept of ID tokens, which most grants have nothing of: in a block of its own, for the rest is copied often.
    private var identity: Boxed<IdentityParts>?

    private struct IdentityParts: Sendable, Equatable {
        var idToken: SecretText?
        var nonce: SecretText?
        var laterIDToken: SecretText?
    }

    package init(accessToken: SecretText, tokenType: String, refreshToken: SecretText?, idToken: SecretText?) {
        self.accessToken = accessToken
        self.tokenType = tokenType
        self.refreshToken = refreshToken
        self.idToken = idToken
    }

    /// The ID token of the code exchange. In a record only one that nobody could verify: then no profile is trusted that
    /// comes with these tokens. One that was verified is not kept.
    package var idToken: SecretText? {
        get { identity?.wrappedValue.idToken }
        set { change { $0.idToken = newValue } }
    }

    /// The nonce of the ID token that came with the refresh token's code, once that is verified: a later one has the same
    /// or none (OpenID Connect Core, section 12.2).
    package var nonce: SecretText? {
        get { identity?.wrappedValue.nonce }
        set { change { $0.nonce = newValue } }
    }

    /// The ID token that came with these tokens at a refresh, while its issuer's keys could not be had: whoever asks for
    /// the profile with them looks at it first.
    package var laterIDToken: SecretText? {
        get { identity?.wrappedValue.laterIDToken }
        set { change { $0.laterIDToken = newValue } }
    }

    private mutating func change(_ change: (inout IdentityParts) -> Void) {
        let before = identity?.wrappedValue ?? IdentityParts()
        var after = before
        change(&after)
        guard after != before else { return }
        identity = after == IdentityParts() ? nil : Boxed(wrappedValue: after)
    }

    package static func == (one: TokenSet, other: TokenSet) -> Bool {
        one.accessToken == other.accessToken && one.tokenType == other.tokenType
            && one.refreshToken == other.refreshToken
            && one.identity?.wrappedValue == other.identity?.wrappedValue
    }
}

/// A readable 2xx answer of a token endpoint (RFC 6749, section 5.1).
package struct TokenAnswer: Sendable, Equatable {
    package var tokens: TokenSet
    /// Nil where the answer named none: then the requested scopes were granted.
    package var scopes: ScopeSet?
    /// Seconds, where the answer told a usable number; 0, negative, over ten years and not a number are nil.
    package var expiresIn: Int64?
    /// Seconds; 0, absent and under 60 are nil.
    package var refreshTokenExpiresIn: Int64?
    /// What was odd and taken all the same, by fixed names.
    package var oddities: [String]

    package init(
        tokens: TokenSet, scopes: ScopeSet?, expiresIn: Int64?, refreshTokenExpiresIn: Int64?, oddities: [String] = []
    ) {
        self.tokens = tokens
        self.scopes = scopes
        self.expiresIn = expiresIn
        self.refreshTokenExpiresIn = refreshTokenExpiresIn
        self.oddities = oddities
    }
}

/// A grant that was taken from the provider and committed, but is no consent yet: sealed beside its code until the
/// profile is known, and found there again after a crash.
///
/// Of one place in memory: it goes through every step of an exchange, and a copy would be of all its fields.
package final class KeptGrant: Sendable {
    package let answer: TokenAnswer
    package let provider: ProviderKey
    package let issuer: IssuingClient
    package let subject: Subject
    package let requested: ScopeSet
    package let client: ClientApp?
    package let notice: NoticeReference?
    package let caller: String
    package let requestID: String?
    package let issuedAt: Instant
    /// What its ID token must answer to; nil where none is looked at.
    package let identity: AskedIdentity?

    package init(
        answer: TokenAnswer, provider: ProviderKey, issuer: IssuingClient, subject: Subject, requested: ScopeSet,
        client: ClientApp?, notice: NoticeReference?, caller: String, requestID: String?, issuedAt: Instant,
        identity: AskedIdentity?
    ) {
        self.answer = answer
        self.provider = provider
        self.issuer = issuer
        self.subject = subject
        self.requested = requested
        self.client = client
        self.notice = notice
        self.caller = caller
        self.requestID = requestID
        self.issuedAt = issuedAt
        self.identity = identity
    }
}
