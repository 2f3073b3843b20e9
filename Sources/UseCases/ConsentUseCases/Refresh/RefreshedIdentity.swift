// SPDX-License-Identifier: Apache-2.0
import Consents
import Observability

/// What the ID token of a refresh has told.
enum RefreshedPerson: Sendable {
    /// The same one, or nothing else; with the attributes, where the provider tells them so and in no other way.
    case same(Profile?)
    /// Nobody's profile is to be asked for this time.
    case doubtful
}

extension RefreshSettling {
    /// Looks at the ID token that came with refreshed tokens, once those are saved (OpenID Connect Core, section 12.2).
    ///
    /// What fails here costs no token: the trail tells, and no profile is asked for this time. None, or an empty one,
    /// leaves all as it was told by the first. One that cannot be judged yet stays with the tokens until they are refreshed:
    /// it is looked at before the profile is asked for with them (``LaterIdentity``).
    /// - Parameters:
    ///   - tokens: what was saved.
    ///   - write: how.
    func person(of answer: TokenAnswer, with tokens: TokenSet, saved write: TokenWrite) async -> RefreshedPerson {
        guard let identity = grant.connection.identity else { return .same(nil) }
        // One that nobody could verify came with the code.
        guard grant.tokens.idToken == nil else { return .doubtful }
        // The SDK's grants come without ID tokens, and whom their profile names may be named otherwise in one.
        guard let token = answer.tokens.idToken, let stored = try? await flight.store.consent(claim.id),
            stored.record.client == nil, let sealed = stored.providerSubject,
            let person = try? flight.vault.openText(sealed, as: .providerSubject, under: grant.key)
        else { return .same(nil) }
        let verdict = await identity.checkRefreshed(
            token, FirstIdentity(person: person, nonce: grant.tokens.nonce), accessToken: answer.tokens.accessToken,
            receivedAt: write.at)
        switch verdict {
        case .verified(let found): return .same(found.attributes)
        case .invalid(let reason):
            await tell(.idTokenRefused, reason)
            return .doubtful
        case .otherPerson:
            await tell(.providerSubjectChanged, nil)
            return .doubtful
        case .cannotVerify(let algorithm):
            flight.log.info("a refreshed ID token cannot be verified here", facts + [Fact(.reason, algorithm)])
            return .same(nil)
        case .keysUnavailable(let reason):
            flight.log.warning("the keys of an issuer cannot be had", facts + [Fact(.reason, reason)])
            await setAside(token, beside: tokens, generation: write.expectedGeneration + 1, of: stored.record)
            return .doubtful
        }
    }

    /// What the journal gets: with the ID token, for nobody looks at that before the store has the tokens.
    func journaled(_ write: TokenWrite, _ tokens: TokenSet, _ answer: TokenAnswer) -> AnsweredWrite {
        guard grant.connection.identity != nil, tokens.idToken == nil, let idToken = answer.tokens.idToken,
            LaterIdentity.keeps(idToken)
        else {
            return .tokens(write, tokens)
        }
        var (later, unjudged) = (write, tokens)
        unjudged.laterIDToken = idToken
        guard
            let sealed = try? flight.vault.seal(
                unjudged, generation: write.expectedGeneration + 1, under: grant.key)
        else { return .tokens(write, tokens) }
        later.tokens = sealed
        return .tokens(later, unjudged)
    }

    /// Keeps it sealed with its tokens, and has the profile wait for it.
    private func setAside(
        _ idToken: SecretText, beside saved: TokenSet, generation: Int64, of record: ConsentRecord
    ) async {
        guard LaterIdentity.keeps(idToken) else { return }
        var tokens = saved
        tokens.laterIDToken = idToken
        do {
            var write = ProfileWrite(
                id: claim.id, status: record.profileStatus == .unavailable ? .unavailable : .pending, profile: nil,
                fetchedAt: nil, providerSubject: nil,
                at: flight.time.now, events: [], superseding: event(.superseded))
            write.tokens = ProfileWrite.SealedAgain(
                generation: generation,
                sealed: try flight.vault.seal(tokens, generation: generation, under: grant.key))
            _ = try await flight.store.saveProfile(write)
        } catch {
            flight.log.warning("an ID token could not be kept for later", facts + [Fact(.reason, "\(error)")])
        }
    }

    private func tell(_ type: EventType, _ reason: String?) async {
        flight.log.error(
            "the ID token of a refresh is refused; its tokens are kept",
            facts + [Fact(.reason, reason ?? "sub is another one than before")])
        do {
            let data: EventData = reason.map { ["reason": .text($0)] } ?? [:]
            try await flight.store.append(event(type, data: data), to: claim.id)
        } catch {
            flight.log.warning("an event could not be written", facts + [Fact(.reason, "\(error)")])
        }
    }
}
