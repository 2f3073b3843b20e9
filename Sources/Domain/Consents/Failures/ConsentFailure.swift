// SPDX-License-Identifier: Apache-2.0
/// Why a use case did not do it, named by what the caller can do next. The edge makes an answer of it in one place.
///
/// Indirect, for it is rare, and what holds one is then as small as what holds none.
package indirect enum ConsentFailure: Error, Sendable, Equatable {
    // The request is at fault: change it.
    case unknownProvider
    case unknownNotice
    case environmentMismatch(provider: String?, response: String)
    case redirectURINotAllowed
    case proofKeyRequired
    case nonceRequired
    /// One was given and nobody can hold it against an ID token.
    case nonceUnchecked
    /// The authorization response is of another issuer than the provider's: the code may be another provider's.
    case otherIssuer

    // The record is at fault: it is not there, or its grant is gone.
    case notFound
    case consentEnded(ConsentStatus)
    case reauthorizationRequired(StatusReason?)

    // The configuration forbids it.
    case accessTokensOff

    // The code is at fault: ask for consent again, unless another subject's.
    case codeAlreadyUsed
    case codeRejected(ProviderStatement?)
    /// The identity that came with the tokens is not what was asked for; why, in a sentence.
    case idTokenInvalid(reason: String?)
    /// The person at the provider belongs to another subject already, and the configuration refuses that.
    case sharedSubject
    case providerBadResponse(ProviderStatement?)
    case exchangeUnknown(ProviderStatement?)

    /// Too many codes for one subject; nothing was sent.
    case rateLimited(retryAfter: Duration)

    // Nobody's fault yet: send the same request again.
    case exchangePending
    case refreshPending
    /// A refresh token went out and nobody knows what became of it: the grant is kept and tried again when that is safe.
    case refreshUnknown(retryAfter: Duration, ProviderStatement?)
    /// Nothing was sent: what became of the last sending is not known, and another one could cost the grant.
    case heldBack(retryAfter: Duration)
    case providerUnavailable(retryAfter: Duration, ProviderStatement?)
    case storeUnavailable
    /// The store came back from a copy: nothing is refreshed until an operator has accepted it.
    case refreshingStopped

    // Ours: an operator must act.
    case providerMisconfigured(ProviderStatement?)
    /// The grant's provider is not in the configuration.
    case providerAbsent
    case clientChanged
    /// The record tells something else than its chain of events, or the chain does not hold: where, in the words of
    /// `verify`.
    case evidenceDiffers([String])
    case ourFault
}
