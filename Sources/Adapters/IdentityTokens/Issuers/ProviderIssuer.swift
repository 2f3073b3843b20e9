// SPDX-License-Identifier: Apache-2.0
package import Consents
package import NativeJSON
internal import NativeSystem

/// One provider's identities as the use cases ask for them.
package final class ProviderIssuer: IdentityCheck {
    /// In order; several while the secret of HS256 is being changed, and never none.
    private let judges: Locked<[ProviderIdentities]>
    private let attributes: @Sendable (JSONValue) async -> Profile?

    /// - Parameter attributes: what the claims of an ID token tell of the person, where nothing else does.
    package init(_ judges: [ProviderIdentities], attributes: @escaping @Sendable (JSONValue) async -> Profile?) {
        self.judges = Locked(judges)
        self.attributes = attributes
    }

    /// Others from now on: the client's secrets have changed, and with them the keys of HS256.
    package func take(_ judges: [ProviderIdentities]) { self.judges.withLock { $0 = judges } }

    package func check(
        _ token: SecretText, _ asked: AskedIdentity, accessToken: SecretText
    ) async -> IDTokenVerdict {
        let rules = IDTokenRules.Asked(nonce: asked.nonce, maximumAge: nil, accessToken: accessToken)
        return await verdict { await $0.check(idToken: token, rules, receivedAt: asked.receivedAt) }
    }

    package func checkRefreshed(
        _ token: SecretText, _ first: FirstIdentity, accessToken: SecretText, receivedAt: Instant
    ) async -> IDTokenVerdict {
        await verdict {
            await $0.check(refreshed: token, first, accessToken: accessToken, receivedAt: receivedAt)
        }
    }

    /// A signed userinfo answer, whosever it is: who asked compares its `sub`.
    package func claims(ofUserinfo token: String) async -> UserinfoVerdict {
        switch await first({ await $0.check(userinfo: SecretText(token), subject: nil) }) {
        case .accepted(let claims): .claims(claims.json)
        case .refused(let fault): .untrusted(reason: fault.description)
        case .cannotVerify(let algorithm): .untrusted(reason: "its algorithm \(algorithm) cannot be verified here")
        case .unavailable(let fault): .keysUnavailable(fault)
        }
    }

    private func verdict(_ check: (ProviderIdentities) async -> IdentityVerdict<IDToken>) async -> IDTokenVerdict {
        switch await first(check) {
        case .accepted(let found):
            .verified(
                VerifiedIdentity(
                    subject: SecretText(found.subject), issuer: found.issuer, nonce: found.nonce,
                    authenticatedAt: found.authenticatedAt, attributes: await attributes(found.claims.json)))
        case .refused(.subject): .otherPerson
        case .refused(let fault): .invalid(reason: fault.description)
        case .cannotVerify(let algorithm): .cannotVerify(algorithm: algorithm)
        case .unavailable(let fault): .keysUnavailable(reason: fault.description)
        }
    }

    /// The last one's verdict, unless one before knows the signature.
    private func first<Value>(
        _ check: (ProviderIdentities) async -> IdentityVerdict<Value>
    ) async -> IdentityVerdict<Value> {
        let judges = judges.withLock { $0 }
        var verdict = await check(judges[0])
        for judge in judges.dropFirst() {
            guard case .refused(.code) = verdict else { return verdict }
            verdict = await check(judge)
        }
        return verdict
    }
}

/// What became of a signed userinfo answer.
package enum UserinfoVerdict: Sendable {
    case claims(JSONValue)
    /// Why it is not trusted, without anything of it but an issuer's name.
    case untrusted(reason: String)
    case keysUnavailable(DocumentFault)
}
