// SPDX-License-Identifier: Apache-2.0
package import Consents

/// What a refresh's outcome means for the grant, and whom it blames (refresh.md, *What an outcome means*).
package enum RefreshStep: Sendable {
    /// Tokens came: save them before anything is looked at.
    case save(TokenAnswer)
    /// The grant is over by the provider's own word.
    case over(ProviderStatement)
    /// Nothing was spent and the grant is not at fault: the row is as it was.
    case release(ConsentFailure)
    /// Likewise, and our credentials are refused: another grant is to be the next trial.
    case postpone(ConsentFailure)
    /// Likewise, and nobody has said how long it will stay so: the longer the grant waits already, the longer it waits on.
    case yield(ConsentFailure)
    /// A failed attempt that may be made again by backoff.
    case backOff(ConsentFailure)
    /// It may have been spent.
    case ambiguous(ConsentFailure)

    package init(after outcome: TokenOutcome) {
        let delay = ExchangeStep.retryDelay
        switch outcome {
        case .granted(let answer): self = .save(answer)
        case .rejected(let statement): self = .over(statement)
        case .credentialsRefused(let statement): self = .postpone(.providerMisconfigured(statement))
        case .requestRefused(let statement): self = .backOff(.providerMisconfigured(statement))
        case .throttled(let statement, let told?): self = .release(.providerUnavailable(retryAfter: told, statement))
        case .throttled(let statement, nil): self = .yield(.providerUnavailable(retryAfter: delay, statement))
        case .notSent(.fenced), .notSent(.stopped): self = .release(.providerUnavailable(retryAfter: delay, nil))
        case .notSent(.configuration): self = .release(.providerMisconfigured(nil))
        case .notSent: self = .backOff(.providerUnavailable(retryAfter: delay, nil))
        case .unknown(_, let statement), .unreadable(_, let statement):
            // An answer to a code would say that a new consent is needed; here the grant may well live.
            self = .ambiguous(.refreshUnknown(retryAfter: delay, statement))
        }
    }

    /// What it means for a grant that was over before an operator forced a try: whatever fails, it stays over.
    package var forGrantThatWasOver: RefreshStep {
        switch self {
        case .postpone(let failure), .yield(let failure), .backOff(let failure), .ambiguous(let failure):
            .release(failure)
        case .save, .over, .release: self
        }
    }
}
