// SPDX-License-Identifier: Apache-2.0
import Consents
import Observability

/// The way of a grant whose ID token is looked at before it becomes a consent. Nothing of it is lost or revoked here.
extension SettleGrant {
    /// How often an issuer whose keys are not to be had is asked again, at most.
    private static let keyInterval = Duration.seconds(1)

    private enum Person {
        /// By an ID token, with what that tells of the person where no userinfo endpoint does.
        case known(VerifiedIdentity)
        /// No ID token came, and none is required: userinfo tells.
        case untold
        case unverified(algorithm: String)
    }

    func verified(
        _ grant: KeptGrant, _ code: CommittedCode, _ deadline: Duration, _ identityDeadline: Duration
    ) async throws(ConsentFailure) -> Redemption {
        guard let asked = grant.identity, let connection = directory.connection(named: grant.provider.name),
            connection.facts.hasIssued(grant)
        else {
            // Who it is of can only be told once the provider is configured again.
            throw .exchangePending
        }
        let person: Person
        // Its operator has decided meanwhile that ID tokens are not looked at.
        if let identity = connection.identity {
            person = try await self.person(of: grant, code, asked, by: identity, until: identityDeadline)
        } else {
            person = .untold
        }
        if case .unverified(let algorithm) = person {
            let fetched = FetchedProfile(
                status: .unavailable, profile: nil, doubt: .unverifiedIdentity(algorithm: algorithm))
            return try await place(grant, of: code, facts: connection.facts, fetched)
        }
        let granted = grant.answer.scopes ?? grant.requested
        if case .known(let found) = person, let told = found.attributes {
            let fetched = FetchedProfile(told: told, of: found.subject, granted: granted, by: connection)
            return try await place(grant.verified(as: found), of: code, facts: connection.facts, fetched)
        }
        var fetched = await ProfileFetch(time: time).fetch(
            with: grant.answer.tokens.accessToken, from: connection, granted: granted, until: deadline)
        guard case .known(let found) = person else {
            return try await place(grant, of: code, facts: connection.facts, fetched)
        }
        fetched = fetched.held(against: found.subject)
        if fetched.doubt == .otherPerson {
            throw try await refusal(grant, code, "the userinfo's sub is not the ID token's")
        }
        return try await place(grant.verified(as: found), of: code, facts: connection.facts, fetched)
    }

    /// Whom the grant is of; the keys are asked for again until the deadline.
    private func person(
        of grant: KeptGrant, _ code: CommittedCode, _ asked: AskedIdentity, by identity: any IdentityCheck,
        until deadline: Duration
    ) async throws(ConsentFailure) -> Person {
        guard let token = grant.answer.tokens.idToken else {
            if asked.isRequired { throw try await refusal(grant, code, "the ID token is missing") }
            guard asked.nonce == nil else {
                throw try await refusal(grant, code, "the ID token is missing, which the nonce is held against")
            }
            return .untold
        }
        while true {
            let verdict = await identity.check(token, asked, accessToken: grant.answer.tokens.accessToken)
            switch verdict {
            case .verified(let found): return .known(found)
            case .invalid(let reason): throw try await refusal(grant, code, reason)
            case .otherPerson: throw try await refusal(grant, code, "sub is another one than before")
            case .cannotVerify(let algorithm):
                // What was to show that the code is this person's cannot be looked at.
                guard asked.nonce == nil else {
                    throw try await refusal(
                        grant, code, "its algorithm \(algorithm) cannot be verified here, nor the nonce in it")
                }
                log.error(
                    "an ID token cannot be verified here; its tokens are kept and no profile is trusted",
                    [Fact(.provider, grant.provider.name), Fact(.reason, algorithm)])
                return .unverified(algorithm: algorithm)
            case .keysUnavailable(let reason):
                let next = time.monotonic + SettleGrant.keyInterval
                guard next < deadline else {
                    log.warning(
                        "a committed grant waits for the keys of its issuer",
                        [Fact(.provider, grant.provider.name), Fact(.reason, reason)])
                    throw .exchangePending
                }
                try? await time.sleep(until: next)
            }
        }
    }

    /// Ends the code so, and says why.
    private func refusal(
        _ grant: KeptGrant, _ code: CommittedCode, _ reason: String
    ) async throws(ConsentFailure) -> ConsentFailure {
        let isRefused: Bool
        do { isRefused = try await refuse(grant, code, as: .idTokenInvalid, because: reason) } catch {
            throw error.mayPass ? .storeUnavailable : .ourFault
        }
        // Somebody else has decided otherwise: whoever asks again finds what.
        return isRefused ? .idTokenInvalid(reason: reason) : .exchangePending
    }

    /// Its tokens stay sealed beside the code for a day; they are never revoked.
    /// - Returns: false where somebody else has decided before.
    func refuse(
        _ grant: KeptGrant, _ code: CommittedCode, as verdict: CodeVerdict, because reason: String?
    ) async throws(StoreFailure) -> Bool {
        log.error(
            "the identity of a grant is refused; its tokens are set aside",
            [
                Fact(.provider, grant.provider.name), Fact(.caller, grant.caller), Fact(.outcome, verdict.rawValue),
                Fact(.reason, reason),
            ])
        let statement = reason.flatMap {
            try? vault.seal(ProviderStatement(status: 0, errorDescription: $0), code: code.digest)
        }
        return try await StorePersistence(time: time).insist(for: .seconds(30)) { () async throws(StoreFailure) in
            try await store.refuseGrant(code.digest, as: verdict, statement: statement, at: time.now)
        }
    }
}

extension KeptGrant {
    /// The same without its ID token, which has been verified and has told all that is kept of it.
    fileprivate func verified(as found: VerifiedIdentity) -> KeptGrant {
        var answer = answer
        answer.tokens.idToken = nil
        answer.tokens.nonce = found.nonce
        return KeptGrant(
            answer: answer, provider: provider, issuer: issuer, subject: subject, requested: requested, client: client,
            notice: notice, caller: caller, requestID: requestID, issuedAt: issuedAt, identity: identity)
    }
}
