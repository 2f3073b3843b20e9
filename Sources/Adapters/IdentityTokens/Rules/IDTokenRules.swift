// SPDX-License-Identifier: Apache-2.0
package import Consents
import NativeCrypto
import NativeJOSE

/// What the ID tokens of one provider must claim (OpenID Connect Core, section 3.1.3.7).
package struct IDTokenRules: Sendable {
    /// The issuer as discovery told it; compared byte for byte.
    package var issuer: String
    package var clientID: String
    /// Others that may stand beside the client in `aud`.
    package var trustedAudiences: [String]

    package init(issuer: String, clientID: String, trustedAudiences: [String]) {
        self.issuer = issuer
        self.clientID = clientID
        self.trustedAudiences = trustedAudiences
    }

    /// What the ID token of one code exchange must answer to.
    package struct Asked: Sendable {
        /// The caller's; nil where none was given, then whatever stands in the token is passed over.
        package var nonce: SecretText?
        /// `max_age` of the authorization request.
        package var maximumAge: Duration?
        /// The access token that came with it.
        package var accessToken: SecretText?

        package init(nonce: SecretText?, maximumAge: Duration?, accessToken: SecretText?) {
            self.nonce = nonce
            self.maximumAge = maximumAge
            self.accessToken = accessToken
        }
    }

    /// - Throws: the first fault, in the order of the specification.
    package func check(_ token: VerifiedToken, _ asked: Asked, now: Instant) throws(TokenFault) -> IDToken {
        let identity = try checkIdentity(token, accessToken: asked.accessToken, now: now)
        if let nonce = asked.nonce {
            guard let found = try token.claims.text(.nonce) else { throw .missing(.nonce) }
            guard Self.isSameSecret(nonce, found) else { throw .nonce }
        }
        if let maximumAge = asked.maximumAge {
            try TokenTimes(now: now).checkAuthentication(token.claims, within: maximumAge)
        }
        return identity
    }

    /// The ID token of a refresh, against the first one of the grant (OpenID Connect Core, section 12.2).
    ///
    /// - Throws: the first fault; `subject` where it is another person's.
    package func checkRefreshed(
        _ token: VerifiedToken, _ first: IDTokenAnchor, accessToken: SecretText?, now: Instant
    ) throws(TokenFault) -> IDToken {
        let claims = token.claims
        let identity = try checkIdentity(token, accessToken: accessToken, now: now)
        guard identity.issuer.isSame(as: first.issuer) else { throw .issuer(first.issuer, identity.issuer) }
        guard identity.subject.isSame(as: first.subject) else { throw .subject }
        if let audiences = first.audiences {
            guard audiences.allSatisfy({ kept in identity.audiences.contains { $0.isSame(as: kept) } }) else {
                throw .audience
            }
            // Of the first token all is known: a party that was not there must not be there now.
            let isSameParty =
                switch (first.authorizedParty, identity.authorizedParty) {
                case (nil, nil): true
                case (let kept?, let found?): kept.isSame(as: found)
                default: false
                }
            guard isSameParty else { throw .authorizedParty }
        }
        if let nonce = first.nonce, let found = try claims.text(.nonce) {
            guard Self.isSameSecret(nonce, found) else { throw .nonce }
        }
        return identity
    }

    /// What holds for both.
    private func checkIdentity(
        _ token: VerifiedToken, accessToken: SecretText?, now: Instant
    ) throws(TokenFault) -> IDToken {
        let (claims, times) = (token.claims, TokenTimes(now: now))
        let found = try claims.requiredText(.iss)
        guard found.isSame(as: issuer) else { throw .issuer(issuer, found) }
        let (audiences, party) = try checkAudience(claims)
        let subject = try claims.subject()
        let expiry = try times.checkExpiry(claims)
        try times.checkNotBefore(claims)
        guard let issue = try times.checkIssue(claims) else { throw .missing(.iat) }
        if let accessToken { try checkHash(of: accessToken, in: token) }
        return IDToken(
            issuer: found, subject: subject, audiences: audiences, authorizedParty: party, issuedAt: issue,
            expiresAt: expiry, nonce: (try? claims.text(.nonce)).map(SecretText.init),
            authenticatedAt: try claims.instant(.authTime), claims: claims)
    }

    private func checkAudience(_ claims: ClaimSet) throws(TokenFault) -> ([String], String?) {
        guard let audiences = try claims.audiences() else { throw .missing(.aud) }
        guard audiences.contains(where: { $0.isSame(as: clientID) }) else { throw .audience }
        let party = try claims.text(.azp)
        if let party {
            guard party.isSame(as: clientID) else { throw .authorizedParty }
        } else {
            let isTrusted = audiences.allSatisfy { audience in
                audience.isSame(as: clientID) || trustedAudiences.contains { $0.isSame(as: audience) }
            }
            guard isTrusted else { throw .untrustedAudience }
        }
        return (audiences, party)
    }

    /// `at_hash`, where it is there: the left half of the access token's digest (OpenID Connect Core, 3.1.3.6).
    private func checkHash(of accessToken: SecretText, in token: VerifiedToken) throws(TokenFault) {
        guard let found = try token.claims.text(.atHash) else { return }
        let digest = token.algorithm.digest.digest(of: Array(accessToken.reveal().utf8))
        let expected = Base64.urlSafe.text(of: Array(digest.prefix(digest.count / 2)))
        guard isSameInConstantTime(Array(expected.utf8), Array(found.utf8)) else { throw .accessTokenHash }
    }

    private static func isSameSecret(_ kept: SecretText, _ found: String) -> Bool {
        isSameInConstantTime(Array(kept.reveal().utf8), Array(found.utf8))
    }
}

/// What a checked ID token says of the person and of itself. Personal: its description is a fixed sentence.
package struct IDToken: Sendable, CustomStringConvertible, CustomReflectable {
    package let issuer: String
    /// The provider's identifier for the person: 1 to 255 bytes without control characters.
    package let subject: String
    package let audiences: [String]
    package let authorizedParty: String?
    package let issuedAt: Instant
    package let expiresAt: Instant
    /// Nil too where it is no text: whoever asked with one has held it against the token before.
    package let nonce: SecretText?
    package let authenticatedAt: Instant?
    package let claims: ClaimSet

    /// What later ID tokens of the grant are held against.
    package func anchor(nonce: SecretText?) -> IDTokenAnchor {
        IDTokenAnchor(
            issuer: issuer, subject: subject, audiences: audiences, authorizedParty: authorizedParty, nonce: nonce)
    }

    package var description: String { "an ID token" }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// What is kept of a grant's first ID token.
package struct IDTokenAnchor: Sendable {
    package var issuer: String
    package var subject: String
    /// Nil where only issuer and subject were kept: then the configured client alone is looked for, and `azp` is not
    /// compared with the first.
    package var audiences: [String]?
    package var authorizedParty: String?
    /// Nil where it was not kept: then one that is there is passed over.
    package var nonce: SecretText?

    package init(
        issuer: String, subject: String, audiences: [String]?, authorizedParty: String?, nonce: SecretText?
    ) {
        self.issuer = issuer
        self.subject = subject
        self.audiences = audiences
        self.authorizedParty = authorizedParty
        self.nonce = nonce
    }
}
