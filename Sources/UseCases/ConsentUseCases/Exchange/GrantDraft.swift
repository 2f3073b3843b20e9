// SPDX-License-Identifier: Apache-2.0
import Consents

/// The code that a committed grant lies beside.
package struct CommittedCode: Sendable {
    let digest: BlindIndex
    /// The blind index of the grant's subject.
    let owner: BlindIndex
}

/// A grant and its profile on their way to becoming a record: pure, but for the seals.
struct GrantDraft: Sendable {
    let grant: KeptGrant
    let code: CommittedCode
    let fetched: FetchedProfile
    let policy: RefreshPolicy
    let sharing: SharedSubjectRule?

    private var granted: ScopeSet { grant.answer.scopes ?? grant.requested }

    /// A new record with everything sealed under a key of its own, and its first event.
    func newConsent(id: ConsentID, vault: any TokenVault, now: Instant) throws(VaultFailure)
        -> (stored: StoredConsent, events: [EventDraft])
    {
        let key = try vault.makeConsentKey(for: id)
        let refreshable = grant.answer.tokens.refreshToken != nil
        let record = ConsentRecord(
            id: id, provider: grant.provider, issuer: grant.issuer, requested: grant.requested, granted: granted,
            profileStatus: fetched.status, profileFetchedAt: fetched.profile == nil ? nil : now, generation: 1,
            timing: timing(id: id, generation: 1, isRefreshable: refreshable), isRefreshable: refreshable,
            client: grant.client, notice: grant.notice, createdAt: now, updatedAt: now)
        var stored = StoredConsent(
            record: record, subjectIndex: code.owner, key: key.envelope,
            subject: try vault.seal(SecretText(grant.subject.text), as: .subject, under: key),
            providerSubjectIndex: nil, providerSubject: nil,
            tokens: try vault.seal(grant.answer.tokens, generation: 1, under: key), profile: nil, attempt: nil)
        if let person = fetched.providerSubject {
            stored.providerSubjectIndex = vault.index(ofProviderSubject: person, at: grant.provider)
            stored.providerSubject = try vault.seal(person, as: .providerSubject, under: key)
        }
        if let profile = fetched.profile { stored.profile = try vault.seal(profile, under: key) }
        stored.sharing = sharing
        let made = try event(
            .created, record.timing, offline: refreshable ? "new" : "none", key: key, vault: vault, now: now)
        return (stored, [made] + doubts(at: now))
    }

    /// What puts this grant into a live record.
    func renewal(of live: StoredConsent, vault: any TokenVault, now: Instant) throws(VaultFailure)
        -> (write: ConsentRenewal, isOfflineReused: Bool)
    {
        guard let envelope = live.key else { throw .unreadable }
        let id = live.record.id
        let key = try vault.openConsentKey(envelope, for: id)
        var tokens = grant.answer.tokens
        var isReused = false
        if tokens.refreshToken == nil, live.record.issuer == grant.issuer, let sealed = live.tokens {
            let kept = try vault.openTokens(sealed, generation: live.record.generation, under: key)
            tokens.refreshToken = kept.refreshToken
            isReused = kept.refreshToken != nil
            // What comes with it later belongs to the sign-in that it is of.
            if isReused { tokens.nonce = kept.nonce }
        }
        let refreshable = tokens.refreshToken != nil
        let generation = live.record.generation + 1
        let offline = isReused ? "reused" : refreshable ? "new" : "none"
        let timing = timing(id: id, generation: generation, isRefreshable: refreshable)
        let made = try event(.renewed, timing, offline: offline, key: key, vault: vault, now: now)
        let write = ConsentRenewal(
            id: id, code: code.digest, expectedGeneration: live.record.generation,
            tokens: try vault.seal(tokens, generation: generation, under: key),
            timing: timing, isRefreshable: refreshable, requested: grant.requested, granted: granted,
            profile: try fetched.profile.map { profile throws(VaultFailure) in try vault.seal(profile, under: key) },
            issuer: grant.issuer, client: grant.client, notice: grant.notice, at: now,
            events: [made] + doubts(at: now))
        return (write, isReused)
    }

    /// What the trail tells of a profile or identity that is not trusted.
    private func doubts(at now: Instant) -> [EventDraft] {
        guard let doubt = fetched.doubt?.event else { return [] }
        return [
            EventDraft(
                type: doubt.type, at: now, caller: grant.caller, requestID: grant.requestID,
                data: ["reason": .text(doubt.reason)])
        ]
    }

    private func timing(id: ConsentID, generation: Int64, isRefreshable: Bool) -> TokenTiming {
        policy.timing(
            of: grant.answer, issuedAt: grant.issuedAt, replacing: nil, isRefreshable: isRefreshable,
            spread: RefreshPolicy.spread(of: id, generation: generation))
    }

    private func event(
        _ type: EventType, _ timing: TokenTiming, offline: String, key: ConsentKey, vault: any TokenVault, now: Instant
    ) throws(VaultFailure) -> EventDraft {
        let subject = SecretText(grant.subject.text)
        let (digests, sealed) = try vault.personalPart(
            fetched.providerSubject.map { ["provider_subject": $0, "subject": subject] } ?? ["subject": subject],
            under: key)
        // In the order of their names, in which they are put in fastest.
        var data = EventData()
        data.reserveCapacity(16)
        data["access_token_expires_at"] = .integer(timing.accessTokenExpiresAt.milliseconds)
        data["app_platform"] = grant.client?.platform.map(EventValue.text)
        data["app_product"] = grant.client?.productName.map(EventValue.text)
        data["app_sdk_version"] = grant.client?.sdkVersion.map(EventValue.text)
        data["environment"] = grant.provider.environment.map(EventValue.text)
        data["notice"] = grant.notice.map { .text($0.text) }
        if grant.notice?.isAssumed == true { data["notice_assumed"] = .text("true") }
        data["offline"] = .text(offline)
        data["provider"] = .text(grant.provider.name)
        data["scopes_granted"] = .text(granted.blankSeparated)
        data["scopes_requested"] = .text(grant.requested.blankSeparated)
        data.merge(digests) { first, _ in first }
        return EventDraft(
            type: type, at: now, caller: grant.caller, requestID: grant.requestID, data: data, personal: sealed)
    }
}
