// SPDX-License-Identifier: Apache-2.0
package import Consents

/// Reads what a revocation endpoint answered (RFC 7009, section 2.2). Pure.
package struct RevocationReader: Sendable {
    private let rules: AnswerRules

    package init(_ rules: AnswerRules) { self.rules = rules }

    /// - Parameters:
    ///   - sent: the values that a provider's text is freed of.
    ///   - now: civil time, for a `Retry-After` that is a date.
    package func read(_ answer: ProviderAnswer, sent: [SecretText], now: Instant) -> RevocationOutcome {
        let body = AnswerBody(answer.body)
        let complaint = Complaint(status: answer.status, body: body)
        // The status tells it all, whatever the body; but some providers put an error into a 200.
        if answer.isSuccess, complaint.error == nil { return .revoked }
        let statement = StatementReader(rules, sent).read(answer, body, complaint)
        let delay = RetryAfter.delay(answer.header("retry-after"), now: now)
        if complaint.isError("RATE_LIMIT_REACHED") { return .failed(statement, retryAfter: delay) }
        switch answer.status {
        case 200...299, 400: return meaning(of: complaint, statement)
        case 429: return .failed(statement, retryAfter: delay)
        // Our credentials are refused: an operator mends them, and the token is still to be revoked.
        case 401, 403: return .failed(statement, retryAfter: delay)
        case 300...499: return .refused(statement)
        default: return .failed(statement, retryAfter: delay)
        }
    }

    /// A token that the provider does not know is no error by the standard; several say so all the same.
    private func meaning(of complaint: Complaint, _ statement: ProviderStatement) -> RevocationOutcome {
        if complaint.isError("unsupported_token_type") { return .unsupported }
        if complaint.isError("invalid_client", "unauthorized_client") { return .failed(statement, retryAfter: nil) }
        if complaint.isError("invalid_token", "invalid_grant", "token_not_found") { return .revoked }
        return .refused(statement)
    }
}
