// SPDX-License-Identifier: Apache-2.0
package import Consents

/// What an exchange's outcome means for the code (refresh.md, *The same for codes*).
package enum ExchangeStep: Sendable {
    /// Tokens came: commit them before anything else.
    case keep(TokenAnswer)
    /// The code is unspent.
    case release(ConsentFailure)
    /// The code is spent and brought nothing.
    case end(CodeVerdict, ProviderStatement?, ConsentFailure)

    /// The delay that a caller is told where the provider names none.
    package static let retryDelay = Duration.seconds(5)

    package init(after outcome: TokenOutcome) {
        switch outcome {
        case .granted(let answer):
            self = .keep(answer)
        case .rejected(let statement):
            self = .end(.codeRejected, statement, .codeRejected(statement))
        case .credentialsRefused(let statement), .requestRefused(let statement):
            self = .release(.providerMisconfigured(statement))
        case .throttled(let statement, let delay):
            self = .release(.providerUnavailable(retryAfter: delay ?? ExchangeStep.retryDelay, statement))
        case .notSent(.configuration):
            self = .release(.providerMisconfigured(nil))
        case .notSent:
            self = .release(.providerUnavailable(retryAfter: ExchangeStep.retryDelay, nil))
        case .unknown(_, let statement):
            self = .end(.exchangeUnknown, statement, .exchangeUnknown(statement))
        case .unreadable(_, let statement):
            self = .end(.providerBadResponse, statement, .providerBadResponse(statement))
        }
    }
}

extension ConsentFailure {
    /// The answer to a code that came to this end before.
    package init(_ verdict: CodeVerdict, _ statement: ProviderStatement?) {
        switch verdict {
        case .codeRejected: self = .codeRejected(statement)
        case .idTokenInvalid: self = .idTokenInvalid(reason: statement?.errorDescription)
        case .sharedSubject: self = .sharedSubject
        case .providerBadResponse: self = .providerBadResponse(statement)
        case .exchangeUnknown: self = .exchangeUnknown(statement)
        }
    }
}
