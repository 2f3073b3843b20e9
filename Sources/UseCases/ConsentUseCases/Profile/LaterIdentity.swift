// SPDX-License-Identifier: Apache-2.0
import Consents
import Observability

/// The ID token of a refresh that could not be judged when it came, looked at before the profile is asked for with the
/// tokens that it came with (refresh.md, *One refresh*: what fails sets a flag and an event, and costs no token).
struct LaterIdentity: Sendable {
    private let keeping: ProfileKeeping
    private let stored: StoredConsent
    private let opened: TokenSet
    private let key: ConsentKey
    private let caller: CallerIdentity

    enum Finding: Sendable {
        /// It raises no doubt; with the person's attributes where the provider tells them so and in no other way.
        case good(Profile?)
        /// It was refused, which the trail tells, or there are still no keys.
        case doubtful
    }

    /// What is longer is no ID token that anybody would verify, and the journal has room for answers, not for these.
    static func keeps(_ idToken: SecretText) -> Bool { idToken.reveal().utf8.count <= 64 << 10 }

    /// - Parameter opened: the tokens of `stored`.
    init(
        _ keeping: ProfileKeeping, of stored: StoredConsent, _ opened: TokenSet, _ key: ConsentKey,
        _ caller: CallerIdentity
    ) {
        self.keeping = keeping
        self.stored = stored
        self.opened = opened
        self.key = key
        self.caller = caller
    }

    func look(at idToken: SecretText, by identity: any IdentityCheck) async -> Finding {
        // The SDK's grants come without ID tokens, and whom their profile names may be named otherwise in one.
        guard stored.record.client == nil, let sealed = stored.providerSubject,
            let person = try? keeping.vault.openText(sealed, as: .providerSubject, under: key)
        else { return .good(nil) }
        let verdict = await identity.checkRefreshed(
            idToken, FirstIdentity(person: person, nonce: opened.nonce), accessToken: opened.accessToken,
            receivedAt: stored.record.lastRefreshedAt ?? stored.record.updatedAt)
        switch verdict {
        case .verified(let found): return .good(found.attributes)
        case .cannotVerify: return .good(nil)
        case .keysUnavailable: return .doubtful
        case .invalid(let reason): await refuse(.idTokenRefused, reason)
        case .otherPerson: await refuse(.providerSubjectChanged, nil)
        }
        return .doubtful
    }

    private func refuse(_ type: EventType, _ reason: String?) async {
        let id = stored.record.id
        keeping.log.error(
            "the ID token of a refresh is refused; its tokens are kept",
            [Fact(.consentID, "\(id)"), Fact(.reason, reason ?? "sub is another one than before")])
        let event = EventDraft(
            type: type, at: keeping.time.now, caller: caller.name, requestID: caller.requestID,
            data: reason.map { ["reason": EventValue.text($0)] } ?? [:])
        _ = await settle([event])
    }

    /// The record's tokens without it; nil where they cannot be sealed: then it is judged once more.
    var tokens: ProfileWrite.SealedAgain? {
        var judged = opened
        judged.laterIDToken = nil
        let generation = stored.record.generation
        return (try? keeping.vault.seal(judged, generation: generation, under: key)).map {
            ProfileWrite.SealedAgain(generation: generation, sealed: $0)
        }
    }

    /// It is waited for no longer.
    /// - Returns: whether that was written.
    func settle(_ events: [EventDraft]) async -> Bool {
        let (now, record) = (keeping.time.now, stored.record)
        let before: ProfileStatus = record.profileFetchedAt == nil ? .pending : .current
        do {
            var write = ProfileWrite(
                id: record.id, status: record.profileStatus == .unavailable ? .unavailable : before, profile: nil,
                fetchedAt: nil, providerSubject: nil, at: now,
                events: events,
                superseding: EventDraft(
                    type: .superseded, at: now, caller: caller.name, requestID: caller.requestID, data: [:]))
            write.tokens = tokens
            return try await keeping.store.saveProfile(write) == .saved
        } catch {
            keeping.log.warning(
                "what an ID token has told could not be kept",
                [Fact(.consentID, "\(record.id)"), Fact(.reason, "\(error)")])
            return false
        }
    }
}
