// SPDX-License-Identifier: Apache-2.0
import Consents
import Observability

/// Puts a fetched profile into its record: sealed, with the names of what changed in the trail.
struct ProfileKeeping: Sendable {
    let store: any ConsentStore
    let vault: any TokenVault
    let time: any Timekeeper
    let log: Log

    /// - Parameters:
    ///   - stored: the record as it was read.
    ///   - key: its key.
    ///   - sharing: what happens where the person is another subject's as well.
    ///   - tokens: the record's, where an ID token beside them is judged by now.
    /// - Returns: whether it was kept.
    func keep(
        _ fetched: FetchedProfile, in stored: StoredConsent, _ key: ConsentKey, sharing: SharedSubjectRule?,
        tokens: ProfileWrite.SealedAgain?, caller: CallerIdentity
    ) async -> Bool {
        let id = stored.record.id
        do {
            var write = try write(fetched, stored, key, caller)
            write.sharing = sharing
            write.tokens = tokens
            let answer = try await store.saveProfile(write)
            switch answer {
            case .providerSubjectDiffers:
                log.error("a provider names another person than before", [Fact(.consentID, "\(id)")])
                try await store.append(event(.providerSubjectChanged, caller), to: id)
            case .sharedSubject:
                log.error("a provider names a person who is another subject's", [Fact(.consentID, "\(id)")])
                try await store.append(event(.providerSubjectShared, caller), to: id)
            case .ended, .generationMoved: break
            case .saved, .superseded, .gaveWay: return true
            }
        } catch {
            log.warning("a profile could not be kept", [Fact(.consentID, "\(id)"), Fact(.reason, "\(error)")])
        }
        return false
    }

    private func write(
        _ fetched: FetchedProfile, _ stored: StoredConsent, _ key: ConsentKey, _ caller: CallerIdentity
    ) throws(VaultFailure) -> ProfileWrite {
        let now = time.now
        var person: (index: BlindIndex, sealed: SealedBytes)?
        var told: (digests: EventData, sealed: SealedBytes)?
        if let subject = fetched.providerSubject {
            person = (
                vault.index(ofProviderSubject: subject, at: stored.record.provider),
                try vault.seal(subject, as: .providerSubject, under: key)
            )
            // Known from now on: the event that makes it known bears it out.
            if stored.providerSubject == nil {
                told = try vault.personalPart(["provider_subject": subject], under: key)
            }
        }
        var sealed: SealedBytes?
        var events = fetched.profile == nil ? [] : [event(.profileFetched, caller)]
        if let doubt = fetched.doubt?.event {
            log.error(
                "a profile is not trusted", [Fact(.consentID, "\(stored.record.id)"), Fact(.reason, doubt.reason)])
            events = [event(doubt.type, caller, ["reason": .text(doubt.reason)])]
        }
        if let profile = fetched.profile {
            sealed = try vault.seal(profile, under: key)
            let before = try stored.profile.map { envelope throws(VaultFailure) in
                try vault.openProfile(envelope, under: key)
            }
            if let before, let changed = ProfileKeeping.changedNames(before, profile) {
                events = [event(.profileChanged, caller, ["attributes": .text(changed)])]
            }
        }
        if let told {
            if events.isEmpty { events = [event(.profileFetched, caller)] }
            events[0].data.merge(told.digests) { first, _ in first }
            events[0].personal = told.sealed
        }
        return ProfileWrite(
            id: stored.record.id, status: fetched.status, profile: sealed, fetchedAt: sealed == nil ? nil : now,
            providerSubject: person, at: now, events: events, superseding: event(.superseded, caller))
    }

    /// The names of the attributes that differ, blank-separated and sorted; nil where none does.
    static func changedNames(_ before: Profile, _ after: Profile) -> String? {
        var names = ClaimName.allCases.filter { before.claims[$0] != after.claims[$0] }.map(\.rawValue)
        if before.address != after.address { names.append("address") }
        return names.isEmpty ? nil : names.sorted().joined(separator: " ")
    }

    private func event(_ type: EventType, _ caller: CallerIdentity, _ data: EventData = [:]) -> EventDraft {
        EventDraft(type: type, at: time.now, caller: caller.name, requestID: caller.requestID, data: data)
    }
}
