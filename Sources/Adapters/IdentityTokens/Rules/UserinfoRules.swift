// SPDX-License-Identifier: Apache-2.0
package import Consents

/// What a signed userinfo answer must claim (OpenID Connect Core, section 5.3.2 to 5.3.4).
package struct UserinfoRules: Sendable {
    package var issuer: String
    package var clientID: String

    package init(issuer: String, clientID: String) {
        self.issuer = issuer
        self.clientID = clientID
    }

    /// `sub` must be there; `iss`, `aud` and times are checked where they are.
    ///
    /// - Parameter subject: the ID token's or the grant's; nil where none is known yet.
    /// - Returns: the claims, which are the person's.
    /// - Throws: the first fault; `subject` where it is another person's.
    package func check(_ token: VerifiedToken, subject: String?, now: Instant) throws(TokenFault) -> ClaimSet {
        let (claims, times) = (token.claims, TokenTimes(now: now))
        if let found = try claims.text(.iss), !found.isSame(as: issuer) { throw .issuer(issuer, found) }
        if let audiences = try claims.audiences(), !audiences.contains(where: { $0.isSame(as: clientID) }) {
            throw .audience
        }
        try times.checkExpiryIfPresent(claims)
        try times.checkNotBefore(claims)
        _ = try times.checkIssue(claims)
        let found = try claims.subject()
        if let subject, !subject.isSame(as: found) { throw .subject }
        return claims
    }
}
