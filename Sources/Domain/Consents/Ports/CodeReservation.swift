// SPDX-License-Identifier: Apache-2.0
/// What is written before a code is sent.
package struct CodeReservation: Sendable {
    package var digest: BlindIndex
    package var provider: ProviderKey
    package var subjectIndex: BlindIndex
    package var attempt: AttemptID
    package var at: Instant
    /// How long the sender may take: connect + answer + 30 s.
    package var lease: Duration
    /// After this the reservation is as if it had never been; nil keeps it as long as the consent.
    package var expiresAt: Instant?

    package init(
        digest: BlindIndex, provider: ProviderKey, subjectIndex: BlindIndex, attempt: AttemptID, at: Instant,
        lease: Duration, expiresAt: Instant?
    ) {
        self.digest = digest
        self.provider = provider
        self.subjectIndex = subjectIndex
        self.attempt = attempt
        self.at = at
        self.lease = lease
        self.expiresAt = expiresAt
    }
}

/// What somebody who wants to send a code finds.
package enum ReservationAnswer: Sendable {
    /// The code is ours to send.
    case reserved
    /// Ours to send as well; how it goes is to be noted, for calls have gone wrong of late.
    case reservedOnWatch
    /// The code is unspent, and the provider may not be asked now.
    case blocked(until: Instant, BlockReason)
    /// It has become this consent, for the same subject.
    case consent(ConsentID)
    /// It came to another end, for the same subject.
    case ended(CodeVerdict, statement: SealedBytes?)
    /// A living instance has it on the wire.
    case underWay
    /// Its grant was kept, and nobody is making a consent of it: that is ours to do.
    case abandonedGrant(SealedBytes)
    /// Another subject's.
    case otherSubject(ConsentID?)
}

/// How a code ended that brought no consent.
package enum CodeVerdict: String, Sendable, CaseIterable {
    case codeRejected = "code_rejected"
    case idTokenInvalid = "id_token_invalid"
    /// The person at the provider belongs to another subject already.
    case sharedSubject = "shared_subject"
    case providerBadResponse = "provider_bad_response"
    case exchangeUnknown = "exchange_unknown"
}
