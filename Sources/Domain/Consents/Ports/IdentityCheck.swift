// SPDX-License-Identifier: Apache-2.0
/// Tells who a person is by the word of one provider's ID tokens (OpenID Connect Core, sections 3.1.3.7 and 12.2).
package protocol IdentityCheck: Sendable {
    /// The ID token that came with a code's tokens.
    /// - Parameter accessToken: the one that came with it.
    func check(_ token: SecretText, _ asked: AskedIdentity, accessToken: SecretText) async -> IDTokenVerdict
    /// One that came with refreshed tokens.
    func checkRefreshed(
        _ token: SecretText, _ first: FirstIdentity, accessToken: SecretText, receivedAt: Instant
    ) async -> IDTokenVerdict
}

/// What is kept of the ID token of a grant's exchange.
package struct FirstIdentity: Sendable {
    /// Whom the grant is of.
    package var person: SecretText
    /// Its nonce; nil where it had none, and one that comes later is passed over.
    package var nonce: SecretText?

    package init(person: SecretText, nonce: SecretText?) {
        self.person = person
        self.nonce = nonce
    }
}

/// What the ID token of one exchange must answer to.
package struct AskedIdentity: Sendable, Equatable {
    /// The nonce that the authorization request went out with; nil where the caller gave none.
    package var nonce: SecretText?
    /// Whether tokens that come without an ID token are refused.
    package var isRequired: Bool
    /// When the answer came: the times in the token are held against this one, however late the keys are had.
    package var receivedAt: Instant

    package init(nonce: SecretText?, isRequired: Bool, receivedAt: Instant) {
        self.nonce = nonce
        self.isRequired = isRequired
        self.receivedAt = receivedAt
    }
}

/// What became of checking an ID token. Reasons are sentences without anything of the token but an issuer's name.
package enum IDTokenVerdict: Sendable {
    case verified(VerifiedIdentity)
    /// It is not what was asked for.
    case invalid(reason: String)
    /// It is good, and of another person than the grant.
    case otherPerson
    /// It may be good, and nobody here can tell: its algorithm is none that is known.
    case cannotVerify(algorithm: String)
    /// The keys, or what the issuer tells of itself, cannot be had now: nothing is known of the token.
    case keysUnavailable(reason: String)
}

/// Whom a verified ID token names. Personal: never printed.
package struct VerifiedIdentity: Sendable {
    /// `sub`: the provider's identifier for the person.
    package var subject: SecretText
    /// `iss`.
    package var issuer: String
    /// `nonce`, whether it was asked for here or not.
    package var nonce: SecretText?
    /// `auth_time`, where it is told.
    package var authenticatedAt: Instant?
    /// What it tells of the person, not yet minimised; nil where the provider has a userinfo endpoint, which tells it.
    package var attributes: Profile?

    package init(
        subject: SecretText, issuer: String, nonce: SecretText?, authenticatedAt: Instant?, attributes: Profile?
    ) {
        self.attributes = attributes
        self.subject = subject
        self.nonce = nonce
        self.issuer = issuer
        self.authenticatedAt = authenticatedAt
    }
}

/// What a provider's configuration says of identities.
package struct IdentityRules: Sendable, Equatable {
    /// Whether ID tokens are looked at.
    package enum IDTokenUse: Sendable { case required, optional, ignored }

    package var idToken: IDTokenUse
    /// What happens where a provider subject belongs to another subject already; nil where it is not looked for.
    package var sharing: SharedSubjectRule?

    package init(idToken: IDTokenUse, sharing: SharedSubjectRule?) {
        self.idToken = idToken
        self.sharing = sharing
    }
}

/// What becomes of a grant whose provider subject another live consent has under another subject.
package enum SharedSubjectRule: Sendable, Equatable {
    /// It is kept, and its trail tells.
    case warn
    /// It is refused.
    case refuse
}
