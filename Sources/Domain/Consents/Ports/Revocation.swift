// SPDX-License-Identifier: Apache-2.0
/// The end of a grant by the person's or an operator's wish: one transaction.
package struct Withdrawal: Sendable {
    package var id: ConsentID
    /// What the tokens for the outbox were read at.
    package var expectedGeneration: Int64
    /// `user` or `operator`.
    package var reason: StatusReason
    package var at: Instant
    package var event: EventDraft
    /// The refresh token first, then the access token; empty where the record holds none.
    package var revocations: [RevocationDraft]

    package init(
        id: ConsentID, expectedGeneration: Int64, reason: StatusReason, at: Instant, event: EventDraft,
        revocations: [RevocationDraft]
    ) {
        self.id = id
        self.expectedGeneration = expectedGeneration
        self.reason = reason
        self.at = at
        self.event = event
        self.revocations = revocations
    }
}

/// What became of a withdrawal.
package enum WithdrawAnswer: Sendable, Equatable {
    /// The grant is closed, tokens and attributes are destroyed, the outbox is filled.
    case withdrawn
    /// It was revoked before.
    case alreadyRevoked
    /// A newer record took this one's place: that one is to be withdrawn.
    case superseded
    /// Other tokens are there by now: read the row again.
    case generationMoved
    case absent
}

/// The two tokens that can be revoked (RFC 7009, section 2.1, `token_type_hint`).
package enum TokenKind: String, Sendable, CaseIterable {
    case refreshToken = "refresh_token"
    case accessToken = "access_token"
}

/// Why a token is revoked at the provider; there is no other reason (refresh.md, 6).
package enum RevocationReason: String, Sendable, CaseIterable { case withdrawal, erasure, unconfirmed }

/// A token on its way into the revocation outbox. Of one consent's the identifiers' order is the order of delivery.
package struct RevocationDraft: Sendable {
    package var id: UUIDv7
    package var provider: ProviderKey
    /// The client that the token was issued to: no other one can revoke it.
    package var clientID: String
    package var consent: ConsentID?
    package var kind: TokenKind
    package var reason: RevocationReason
    /// Under the ring, bound to `id`.
    package var token: SealedBytes

    package init(
        id: UUIDv7, provider: ProviderKey, clientID: String, consent: ConsentID?, kind: TokenKind,
        reason: RevocationReason, token: SealedBytes
    ) {
        self.id = id
        self.provider = provider
        self.clientID = clientID
        self.consent = consent
        self.kind = kind
        self.reason = reason
        self.token = token
    }
}

/// A delivery that this instance has taken, with a lease on it.
package struct RevocationTask: Sendable {
    package var draft: RevocationDraft
    /// How often it was tried before.
    package var tries: Int

    package init(draft: RevocationDraft, tries: Int) {
        self.draft = draft
        self.tries = tries
    }
}

/// How a delivery ended.
package struct RevocationSettlement: Sendable {
    package enum Outcome: Sendable, Equatable {
        /// The provider took it, or knows no such token: it is over. The token is destroyed.
        case revoked
        /// The provider has no way to revoke this kind of token. The token is destroyed.
        case unsupported
        /// The provider refuses it for good, or it was tried for too long. The token is destroyed.
        case failed
        /// To be tried again then.
        case again(at: Instant)
        /// It would end another consent, which lives: looked at again then, or when that one is withdrawn.
        case held(until: Instant)
    }
    package var id: UUIDv7
    package var outcome: Outcome
    package var at: Instant
    /// Goes to the consent's chain, where there is a consent; nil for one that is tried again. Of a delivery that is held
    /// again and again only the first one goes there.
    package var event: EventDraft?

    package init(id: UUIDv7, outcome: Outcome, at: Instant, event: EventDraft?) {
        self.id = id
        self.outcome = outcome
        self.at = at
        self.event = event
    }
}

/// What a provider made of a token that it was asked to revoke (RFC 7009, section 2.2).
package enum RevocationOutcome: Sendable {
    case revoked
    /// No endpoint, or `unsupported_token_type`.
    case unsupported
    /// A refusal that asking again does not change.
    case refused(ProviderStatement)
    /// No definite answer: harmless to try again.
    case failed(ProviderStatement, retryAfter: Duration?)
}
