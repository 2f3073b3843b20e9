// SPDX-License-Identifier: Apache-2.0
import Consents

/// The time claims that every kind of token shares (RFC 7519, sections 4.1.4 to 4.1.6), against one moment.
package struct TokenTimes: Sendable {
    /// How far two clocks may be apart.
    package static let skew = Duration.seconds(60)

    let now: Instant
    private var earliest: Instant { now.advanced(by: .zero - Self.skew) }
    private var latest: Instant { now.advanced(by: Self.skew) }

    /// - Returns: `exp`.
    /// - Throws: `missing`, `malformed`, `expired`.
    func checkExpiry(_ claims: ClaimSet) throws(TokenFault) -> Instant {
        let expiry = try claims.requiredInstant(.exp)
        guard expiry > earliest else { throw .expired }
        return expiry
    }

    /// `exp` where it is there.
    func checkExpiryIfPresent(_ claims: ClaimSet) throws(TokenFault) {
        if claims.has(.exp) { _ = try checkExpiry(claims) }
    }

    /// - Throws: `malformed`, `notYetValid`.
    func checkNotBefore(_ claims: ClaimSet) throws(TokenFault) {
        if let start = try claims.instant(.nbf), start > latest { throw .notYetValid }
    }

    /// - Returns: `iat` where it is there.
    /// - Throws: `malformed`, `issuedInFuture`.
    func checkIssue(_ claims: ClaimSet) throws(TokenFault) -> Instant? {
        guard let issue = try claims.instant(.iat) else { return nil }
        guard issue <= latest else { throw .issuedInFuture }
        return issue
    }

    /// `auth_time`, which must be there and at most that long ago.
    /// - Throws: `missing`, `malformed`, `authenticationTooOld`, `issuedInFuture`.
    func checkAuthentication(_ claims: ClaimSet, within maximum: Duration) throws(TokenFault) {
        let moment = try claims.requiredInstant(.authTime)
        guard moment <= latest else { throw .issuedInFuture }
        guard moment.advanced(by: maximum) >= earliest else { throw .authenticationTooOld }
    }
}
