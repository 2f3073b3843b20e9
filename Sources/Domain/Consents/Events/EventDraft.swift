// SPDX-License-Identifier: Apache-2.0
/// An event before the store gives it its place in the consent's chain (contract, section 6).
package struct EventDraft: Sendable {
    package var type: EventType
    package var at: Instant
    /// On whose call: an API key's name, `scheduler`, `command line`.
    package var caller: String
    package var requestID: String?
    /// Strings and integers only. Personal values enter as salted digests.
    package var data: EventData
    /// The salts and values behind those digests, under the consent's key; dropped at erasure.
    package var personal: SealedBytes?

    package init(
        type: EventType, at: Instant, caller: String, requestID: String?, data: EventData = [:],
        personal: SealedBytes? = nil
    ) {
        self.type = type
        self.at = at
        self.caller = caller
        self.requestID = requestID
        self.data = data
        self.personal = personal
    }
}

extension EventDraft {
    /// A refresh token was sent, and its sender is gone: the word is that of a refresh whose outcome nobody knows.
    package static func refreshNamedUnknown(at now: Instant) -> EventDraft {
        EventDraft(
            type: .refreshFailed, at: now, caller: "gateway", requestID: nil,
            data: ["failure": .text("refresh_unknown")])
    }

    /// The same event of a grant that was over before an operator forced the try: it tells of no change.
    package var ofForcedTry: EventDraft {
        var event = self
        event.data["forced"] = .text("true")
        return event
    }
}

/// What an event's data may hold: nothing that two programs could write differently.
package enum EventValue: Sendable, Equatable {
    case text(String)
    case integer(Int64)
}

/// What happened to a consent.
package enum EventType: String, Sendable, CaseIterable {
    case created = "consent.created"
    case renewed = "consent.renewed"
    case superseded = "consent.superseded"
    case expired = "consent.expired"
    case refreshed = "consent.refreshed"
    case refreshFailed = "consent.refresh_failed"
    /// Four fifths of the refresh token's life are over, and tries fail: told once a generation.
    case reauthorizationSoon = "consent.reauthorization_soon"
    /// A refresh brought tokens when another one's had been saved: they are kept apart.
    case spareKept = "consent.spare_kept"
    /// The provider has refused the tokens in use: those that were kept apart take their place.
    case spareTried = "consent.spare_tried"
    case reauthorizationRequired = "consent.reauthorization_required"
    case profileFetched = "consent.profile_fetched"
    case profileChanged = "consent.profile_changed"
    case profileRead = "consent.profile_read"
    case tokenRead = "consent.token_read"
    case revoked = "consent.revoked"
    /// How the attempt to revoke a token at the provider ended: `outcome` tells.
    case tokenRevocation = "consent.token_revocation"
    /// The record's time is over: who it was of is gone, and what was sealed with it.
    case erased = "consent.erased"
    /// The time of its evidence is over: what the events before told is gone. The last event of a chain.
    case evidenceRemoved = "consent.evidence_removed"
    case codeOfOtherSubject = "security.code_of_other_subject"
    case providerSubjectChanged = "security.provider_subject_changed"
    /// A live consent of another subject has the same provider subject.
    case providerSubjectShared = "security.provider_subject_shared"
    /// An ID token came that nobody here can verify: the tokens are kept, and no profile is trusted.
    case identityUnverified = "security.identity_unverified"
    /// The ID token of a refresh is not what it must be; the tokens that came with it are kept.
    case idTokenRefused = "security.id_token_refused"
    /// A profile came that is not trusted.
    case profileRefused = "security.profile_refused"
}

extension EventType {
    /// Whether it may be told of a record in that state: nothing is read where nothing is held any more. The profile of
    /// an expired record stays readable.
    package func mayBeTold(in status: ConsentStatus) -> Bool {
        switch self {
        case .profileRead: status != .revoked && status != .superseded
        case .tokenRead: status.isGrantHeld
        default: true
        }
    }
}

/// Where a consent's chain of events ended when its row was read.
package struct ChainEnd: Sendable, Equatable {
    /// How many events there are.
    package var count: Int64
    /// The mac of the last one; empty before the first.
    package var head: [UInt8]

    package init(count: Int64, head: [UInt8]) {
        self.count = count
        self.head = head
    }
}

/// An event as it lies in the chain.
package struct StoredEvent: Sendable {
    package var sequence: Int64
    package var draft: EventDraft
    /// HMAC-SHA-256 over the event before it and this one.
    package var mac: [UInt8]

    package init(sequence: Int64, draft: EventDraft, mac: [UInt8]) {
        self.sequence = sequence
        self.draft = draft
        self.mac = mac
    }
}
