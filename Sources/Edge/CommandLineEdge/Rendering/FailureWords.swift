// SPDX-License-Identifier: Apache-2.0
internal import Consents

/// A use case's failure in the words of the command line.
struct FailureWords {
    /// The contract's code, as in `reauthorization_required`.
    let code: String
    /// What is the matter and what to do next; without the provider's own words.
    let sentence: String
    var statement: ProviderStatement?
    /// Whole seconds after which to try again.
    var retryAfter: Int64?

    init(_ code: String, _ sentence: String, _ statement: ProviderStatement? = nil, retryAfter: Int64? = nil) {
        self.code = code
        self.sentence = sentence
        self.statement = statement
        self.retryAfter = retryAfter
    }

    init(of failure: ConsentFailure) {
        switch failure {
        case .unknownProvider: self.init("unknown_provider", "its provider is not in the configuration")
        case .notFound: self.init("not_found", "there is no such consent")
        case .consentEnded(let status):
            self.init("consent_ended", "it is \(status.rawValue); nothing is left to refresh")
        case .reauthorizationRequired(let reason):
            self.init(
                "reauthorization_required",
                "the grant is gone" + (reason.map { " (\($0.rawValue))" } ?? "") + "; the person must consent again")
        case .refreshPending: self.init("refresh_pending", "the provider's answer is still awaited; look again later")
        case .refreshUnknown(let retryAfter, let statement):
            self.init(
                "provider_unavailable", "nobody knows whether the provider has refreshed it; the grant is kept",
                statement,
                retryAfter: max(1, retryAfter.wholeSeconds))
        case .heldBack(let retryAfter):
            self.init(
                "provider_unavailable",
                "nobody knows what became of its last refresh; another one could end the grant now",
                retryAfter: max(1, retryAfter.wholeSeconds))
        case .providerUnavailable(let retryAfter, let statement):
            self.init(
                "provider_unavailable", "the provider takes no requests now; the grant is as it was", statement,
                retryAfter: max(1, retryAfter.wholeSeconds))
        case .storeUnavailable: self.init("store_unavailable", "the store takes no writes now; look again later")
        case .refreshingStopped:
            self.init(
                "refreshing_stopped",
                "the store came back from a copy; nothing is refreshed before `restore-check --accept`")
        default: self = FailureWords.ofConfiguration(failure)
        }
    }

    /// What an operator must mend, and what only an exchange can meet.
    private static func ofConfiguration(_ failure: ConsentFailure) -> FailureWords {
        switch failure {
        case .providerMisconfigured(let statement):
            FailureWords(
                "provider_misconfigured", "the provider refuses the gateway's credentials or request", statement)
        case .providerAbsent:
            FailureWords("provider_misconfigured", "its provider is not in the configuration; nothing was sent")
        case .clientChanged:
            FailureWords("client_changed", "another client is configured than the one that the grant was issued to")
        case .providerBadResponse(let statement):
            FailureWords("provider_bad_response", "the provider's answer cannot be read", statement)
        case .codeRejected(let statement), .exchangeUnknown(let statement):
            FailureWords("unexpected", "the provider answered as to a code", statement)
        default: FailureWords("internal", "the gateway failed; its log says where")
        }
    }

    /// What the provider said, as in `400 invalid_grant: expired (correlation 1234)`; nil where it said nothing.
    var statementText: String? {
        guard let statement, statement.status != 0 || statement.error != nil else { return nil }
        var text = statement.status == 0 ? "" : String(statement.status)
        if let error = statement.error { text += (text.isEmpty ? "" : " ") + error }
        if let description = statement.errorDescription { text += ": " + description }
        if let correlation = statement.correlationID { text += " (correlation \(correlation))" }
        return Printable.text(text)
    }
}
