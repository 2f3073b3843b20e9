// SPDX-License-Identifier: Apache-2.0
package import Consents
package import Observability

/// Makes a consent of a grant that has been committed: asks for the profile, then creates a record, or renews the live
/// one of the same person.
package final class SettleGrant: Sendable {
    let directory: ProviderDirectory
    let store: any ConsentStore
    let vault: any TokenVault
    let time: any Timekeeper
    let entropy: any Entropy
    let log: Log

    package init(
        directory: ProviderDirectory, store: any ConsentStore, vault: any TokenVault, time: any Timekeeper,
        entropy: any Entropy, log: Log
    ) {
        self.directory = directory
        self.store = store
        self.vault = vault
        self.time = time
        self.entropy = entropy
        self.log = log
    }

    /// - Parameters:
    ///   - deadline: monotonic time until which the profile is waited for; without it the record says `pending`.
    ///   - identityDeadline: likewise the keys of its ID token; without them the grant stays as it is.
    /// - Throws: `storeUnavailable` where the store takes no writes for long: the grant stays committed beside its code
    ///   and is settled by whoever comes next, as after `exchangePending`, where its ID token cannot be verified yet;
    ///   `idTokenInvalid` and `sharedSubject` where it becomes no consent; `ourFault` where it cannot be sealed or opened.
    package func callAsFunction(
        _ grant: KeptGrant, of code: CommittedCode, profileUntil deadline: Duration,
        identityUntil identityDeadline: Duration
    ) async throws(ConsentFailure) -> Redemption {
        if grant.identity != nil { return try await verified(grant, code, deadline, identityDeadline) }
        guard let connection = directory.connection(named: grant.provider.name), connection.facts.hasIssued(grant)
        else {
            return try await place(grant, of: code, facts: nil, FetchedProfile(status: .pending, profile: nil))
        }
        let fetched = await ProfileFetch(time: time).fetch(
            with: grant.answer.tokens.accessToken, from: connection, granted: grant.answer.scopes ?? grant.requested,
            until: deadline)
        return try await place(grant, of: code, facts: connection.facts, fetched)
    }

    /// Of several grants of one person one is written in each round, so as many may be placed at the same time.
    private static let rounds = 256

    /// Creates or renews; a race with another consent of the same person is decided by the store, and tried again.
    func place(
        _ grant: KeptGrant, of code: CommittedCode, facts: ProviderFacts?, _ fetched: FetchedProfile
    ) async throws(ConsentFailure) -> Redemption {
        let draft = GrantDraft(
            grant: grant, code: code, fetched: fetched, policy: facts?.policy ?? .whereNoneIsConfigured,
            sharing: facts?.identity.sharing)
        for _ in 0..<SettleGrant.rounds {
            do {
                switch try await create(draft) {
                case .made(let redemption): return redemption
                case .shared:
                    if try await refuse(grant, code, as: .sharedSubject, because: nil) {
                        throw ConsentFailure.sharedSubject
                    }
                case .live(let id):
                    if let live = try await liveRecord(id), let renewed = try await renew(live, with: draft) {
                        return renewed
                    }
                }
            } catch let failure as ConsentFailure {
                throw failure
            } catch let failure as StoreFailure {
                throw failure.mayPass ? .storeUnavailable : .ourFault
            } catch {
                throw .ourFault
            }
        }
        throw .storeUnavailable
    }

    /// The record that the store found in the way; nil where it has ended meanwhile.
    private func liveRecord(_ id: ConsentID) async throws -> StoredConsent? {
        let persistence = StorePersistence(time: time)
        let found = try await persistence.insist(for: .seconds(10)) { () async throws(StoreFailure) in
            try await store.consent(id)
        }
        guard let found else { return nil }
        let settled = await LapsedConsents(store: store, time: time).settled(found)
        return settled.record.status.isLive ? settled : nil
    }

    private enum Creation {
        case made(Redemption)
        /// The same person has a live record.
        case live(ConsentID)
        /// Another subject has one of the same person, which is refused.
        case shared
    }

    /// Most grants are of somebody new: so the record is made at once, and the store tells where there is one.
    private func create(_ draft: GrantDraft) async throws -> Creation {
        let now = time.now
        let sealed = try draft.newConsent(id: ConsentID(entropy.identifier(at: now)), vault: vault, now: now)
        let persistence = StorePersistence(time: time)
        let answer = try await persistence.insist(for: .seconds(10)) { () async throws(StoreFailure) in
            try await store.createConsent(sealed.stored, of: draft.code.digest, events: sealed.events)
        }
        switch answer {
        case .created:
            return .made(
                Redemption(
                    consent: OpenedConsent(
                        sealed.stored, subject: draft.grant.subject,
                        providerSubject: draft.fetched.providerSubject, profile: draft.fetched.profile),
                    kind: .created, isOfflineReused: false))
        case .liveExists(let id):
            return .live(id)
        case .alreadyConsent(let id):
            return .made(try await known(id))
        case .sharedSubject:
            return .shared
        }
    }

    private func renew(_ live: StoredConsent, with draft: GrantDraft) async throws -> Redemption? {
        let now = time.now
        let renewal = try draft.renewal(of: live, vault: vault, now: now)
        let persistence = StorePersistence(time: time)
        let answer = try await persistence.insist(for: .seconds(10)) { () async throws(StoreFailure) in
            try await store.renewConsent(renewal.write)
        }
        switch answer {
        case .written, .alreadyWritten, .verdictHeld:
            var redemption = try await known(live.record.id)
            redemption.kind = .renewed
            redemption.isOfflineReused = renewal.isOfflineReused
            return redemption
        case .generationMoved, .ended:
            return nil
        }
    }

    private func known(_ id: ConsentID) async throws -> Redemption {
        guard let stored = try await store.consent(id) else { throw StoreFailure.damaged("a code points to no record") }
        let opened = try RecordOpening(vault: vault).open(stored, withProfile: true)
        return Redemption(consent: opened, kind: .known, isOfflineReused: false)
    }
}

extension RefreshPolicy {
    /// For a grant whose provider was taken out of the configuration while it lay committed: kept, and not refreshed
    /// before somebody configures the provider again.
    static let whereNoneIsConfigured = RefreshPolicy(
        kind: .onDemand, interval: .seconds(30 * 86_400), reuse: .forbidden, idleLife: nil,
        defaultLifetime: .seconds(3600))
}
