// SPDX-License-Identifier: Apache-2.0
/// What became of a new consent.
package enum CreateAnswer: Sendable, Equatable {
    case created
    /// A live record has the same four; renew that one.
    case liveExists(ConsentID)
    /// The code's grant was made a consent already, by another instance.
    case alreadyConsent(ConsentID)
    /// Another subject's live record has the same provider subject, which the record's rule refuses.
    case sharedSubject
}

/// What a new grant of the same person puts into a live record.
package struct ConsentRenewal: Sendable {
    package var id: ConsentID
    package var code: BlindIndex
    package var expectedGeneration: Int64
    /// Under the record's own key, bound to `expectedGeneration + 1`.
    package var tokens: SealedBytes
    package var timing: TokenTiming
    package var isRefreshable: Bool
    package var requested: ScopeSet
    package var granted: ScopeSet
    /// Nil leaves the one that is there.
    package var profile: SealedBytes?
    package var issuer: IssuingClient
    package var client: ClientApp?
    package var notice: NoticeReference?
    package var at: Instant
    package var events: [EventDraft]

    package init(
        id: ConsentID, code: BlindIndex, expectedGeneration: Int64, tokens: SealedBytes, timing: TokenTiming,
        isRefreshable: Bool, requested: ScopeSet, granted: ScopeSet, profile: SealedBytes?, issuer: IssuingClient,
        client: ClientApp?, notice: NoticeReference?, at: Instant, events: [EventDraft]
    ) {
        self.id = id
        self.code = code
        self.expectedGeneration = expectedGeneration
        self.tokens = tokens
        self.timing = timing
        self.isRefreshable = isRefreshable
        self.requested = requested
        self.granted = granted
        self.profile = profile
        self.issuer = issuer
        self.client = client
        self.notice = notice
        self.at = at
        self.events = events
    }
}

/// What became of a write that holds only where the row is as it was read.
package enum WriteAnswer: Sendable, Equatable {
    case written
    /// The same attempt wrote it before.
    case alreadyWritten
    /// Written as a failure: the provider's verdict is held, for an operator to decide.
    case verdictHeld
    /// Somebody else's tokens are there: read the row again.
    case generationMoved
    /// The record has ended, or is not there.
    case ended
}

/// What a userinfo answer puts into a record.
package struct ProfileWrite: Sendable {
    package var id: ConsentID
    package var status: ProfileStatus
    /// Nil leaves what is there.
    package var profile: SealedBytes?
    package var fetchedAt: Instant?
    package var providerSubject: (index: BlindIndex, sealed: SealedBytes)?
    package var at: Instant
    package var events: [EventDraft]
    /// Goes to a record that this one supersedes, or to this one if it is the older.
    package var superseding: EventDraft
    /// What happens where the provider subject is new and another subject's.
    package var sharing: SharedSubjectRule?
    /// The same tokens with or without an ID token that nobody could judge yet; nil leaves what is there.
    package var tokens: SealedAgain?

    /// Tokens of one generation, sealed another time.
    package struct SealedAgain: Sendable {
        package var generation: Int64
        package var sealed: SealedBytes

        package init(generation: Int64, sealed: SealedBytes) {
            self.generation = generation
            self.sealed = sealed
        }
    }

    package init(
        id: ConsentID, status: ProfileStatus, profile: SealedBytes?, fetchedAt: Instant?,
        providerSubject: (index: BlindIndex, sealed: SealedBytes)?, at: Instant, events: [EventDraft],
        superseding: EventDraft
    ) {
        self.id = id
        self.status = status
        self.profile = profile
        self.fetchedAt = fetchedAt
        self.providerSubject = providerSubject
        self.at = at
        self.events = events
        self.superseding = superseding
    }
}

/// What became of a profile, and of other records of the same person.
package enum ProfileAnswer: Sendable, Equatable {
    case saved
    /// Saved, and this older record gave way.
    case superseded(ConsentID)
    /// Not saved: a newer record has the same four, and this one gave way to it.
    case gaveWay(to: ConsentID)
    /// Not saved: the record has another provider subject, which never changes.
    case providerSubjectDiffers
    /// Not saved: another subject's live record has the provider subject, which the rule refuses.
    case sharedSubject
    /// Not saved: other tokens are there than those that were sealed again.
    case generationMoved
    /// Not saved: the record has ended, or is not there.
    case ended
}
