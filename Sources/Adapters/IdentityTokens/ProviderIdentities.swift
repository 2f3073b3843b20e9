// SPDX-License-Identifier: Apache-2.0
package import Consents
package import NativeJOSE

/// What one provider's ID tokens and signed userinfo answers are held against, with its issuer and keys.
package final class ProviderIdentities: Sendable {
    /// Where the issuer's name comes from, which a token must have byte for byte.
    package enum IssuerName: Sendable {
        /// No discovery: as it is configured.
        case configured(String)
        /// As the metadata have it, which may differ from the configuration by a slash at the end.
        case discovered(IssuerMetadata)
    }

    private let issuer: IssuerName
    private let keys: IssuerKeys
    private let clientID: String
    private let trustedAudiences: [String]
    private let policy: TokenPolicy
    private let time: any Timekeeper

    /// - Parameters:
    ///   - keys: at the configured `jwks_uri` or the metadata's.
    ///   - secret: nil unless the provider's profile allows HS256 and the client's secret is fit for it.
    ///   - time: tells civil time.
    package init(
        issuer: IssuerName, keys: IssuerKeys, clientID: String, trustedAudiences: [String],
        algorithms: Set<JOSEAlgorithm>, secret: ClientSecretMAC?, time: any Timekeeper
    ) {
        self.issuer = issuer
        self.keys = keys
        self.clientID = clientID
        self.trustedAudiences = trustedAudiences
        policy = TokenPolicy(algorithms: algorithms, secret: secret, types: .unnamed(or: []))
        self.time = time
    }

    /// The ID token of a code exchange (OpenID Connect Core, section 3.1.3.7).
    package func check(idToken: SecretText, _ asked: IDTokenRules.Asked) async -> IdentityVerdict<IDToken> {
        await judge(idToken, policy, at: nil) { token, rules, now throws(TokenFault) in
            try rules.check(token, asked, now: now)
        }
    }

    /// The same of one that came before, and could not be verified then: its times are held against that moment.
    package func check(
        idToken: SecretText, _ asked: IDTokenRules.Asked, receivedAt: Instant
    ) async -> IdentityVerdict<IDToken> {
        await judge(idToken, policy, at: receivedAt) { token, rules, now throws(TokenFault) in
            try rules.check(token, asked, now: now)
        }
    }

    /// The ID token of a refresh of which no more than the person and the nonce are known (section 12.2).
    package func check(
        refreshed idToken: SecretText, _ known: FirstIdentity, accessToken: SecretText?, receivedAt: Instant
    ) async -> IdentityVerdict<IDToken> {
        await judge(idToken, policy, at: receivedAt) { token, rules, now throws(TokenFault) in
            let first = IDTokenAnchor(
                issuer: rules.issuer, subject: known.person.reveal(), audiences: nil, authorizedParty: nil,
                nonce: known.nonce)
            return try rules.checkRefreshed(token, first, accessToken: accessToken, now: now)
        }
    }

    /// The ID token of a refresh (section 12.2).
    package func check(
        refreshed idToken: SecretText, _ first: IDTokenAnchor, accessToken: SecretText?
    ) async -> IdentityVerdict<IDToken> {
        await judge(idToken, policy, at: nil) { token, rules, now throws(TokenFault) in
            try rules.checkRefreshed(token, first, accessToken: accessToken, now: now)
        }
    }

    /// A userinfo answer of the media type `application/jwt` (section 5.3.2).
    /// - Parameter subject: the ID token's or the grant's; nil where none is known yet.
    package func check(userinfo: SecretText, subject: String?) async -> IdentityVerdict<ClaimSet> {
        var policy = policy
        policy.types = .unnamed(or: ["userinfo+jwt"])
        let clientID = clientID
        return await judge(userinfo, policy, at: nil) { token, rules, now throws(TokenFault) in
            try UserinfoRules(issuer: rules.issuer, clientID: clientID).check(token, subject: subject, now: now)
        }
    }

    private func judge<Value>(
        _ token: SecretText, _ policy: TokenPolicy, at moment: Instant?,
        _ check: (VerifiedToken, IDTokenRules, Instant) throws(TokenFault) -> Value
    ) async -> IdentityVerdict<Value> {
        let name: String
        switch issuer {
        case .configured(let issuer): name = issuer
        case .discovered(let metadata):
            switch await metadata.current() {
            case .success(let metadata): name = metadata.issuer
            case .failure(let fault): return .unavailable(fault)
            }
        }
        let verdict = await keys.verify(token.reveal(), by: policy, doubt: .waits)
        let rules = IDTokenRules(issuer: name, clientID: clientID, trustedAudiences: trustedAudiences)
        // After the keys were waited for.
        let now = moment ?? time.now
        return IdentityVerdict(verdict) { token throws(TokenFault) in try check(token, rules, now) }
    }
}
