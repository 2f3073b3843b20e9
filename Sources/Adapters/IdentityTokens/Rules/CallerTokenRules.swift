// SPDX-License-Identifier: Apache-2.0
package import Consents
package import NativeJOSE

/// What the session token of a merchant's user must be and claim (contract, section 1, `auth.jwt`; RFC 9068, section 4).
package struct CallerTokenRules: Sendable {
    /// From the issue, or from now where `iat` is not told, to `exp`.
    package static let longestLife = Duration.seconds(24 * 3600)

    package var issuer: String
    package var audience: String
    /// HS256 among them is not allowed all the same.
    package var algorithms: Set<JOSEAlgorithm>
    /// `typ` that the header must have, such as `at+jwt`; nil: none, one that names no kind, or `at+jwt`.
    package var type: String?
    /// The claim that holds the merchant's identifier for the person, usually `sub`.
    package var subjectClaim: String
    /// Put before it, so that two issuers' users never meet.
    package var subjectPrefix: String

    package init(
        issuer: String, audience: String, algorithms: Set<JOSEAlgorithm>, type: String?, subjectClaim: String,
        subjectPrefix: String
    ) {
        self.issuer = issuer
        self.audience = audience
        self.algorithms = algorithms
        self.type = type
        self.subjectClaim = subjectClaim
        self.subjectPrefix = subjectPrefix
    }

    /// How the signature is verified.
    package var policy: TokenPolicy {
        TokenPolicy(
            algorithms: algorithms.filter(\.isAsymmetric), secret: nil,
            types: type.map(TypeRule.exactly) ?? .unnamed(or: ["at+jwt"]))
    }

    /// The subject for whom the caller acts.
    /// - Throws: the first fault.
    package func check(_ token: VerifiedToken, now: Instant) throws(TokenFault) -> Subject {
        let (claims, times) = (token.claims, TokenTimes(now: now))
        let found = try claims.requiredText(.iss)
        guard found.isSame(as: issuer) else { throw .issuer(issuer, found) }
        guard let audiences = try claims.audiences() else { throw .missing(.aud) }
        guard audiences.contains(where: { $0.isSame(as: audience) }) else { throw .audience }
        let expiry = try times.checkExpiry(claims)
        try times.checkNotBefore(claims)
        let issue = try times.checkIssue(claims)
        let isShort =
            expiry <= now.advanced(by: Self.longestLife + TokenTimes.skew)
            && (issue.map { expiry <= $0.advanced(by: Self.longestLife) } ?? true)
        guard isShort else { throw .lifetime }
        // Taken as a bearer token it would be worth to a thief what its issuer has kept from thieves.
        guard !claims.has(.cnf) else { throw .boundToKey }
        guard let name = try claims.text(subjectClaim, as: .configuredSubject) else {
            throw .missing(.configuredSubject)
        }
        guard !name.isEmpty, let subject = Subject(subjectPrefix + name) else { throw .malformed(.configuredSubject) }
        return subject
    }
}
