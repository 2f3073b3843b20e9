// SPDX-License-Identifier: Apache-2.0
package import Consents

/// Reads what a revocation endpoint answered (RFC 7009, section 2.2). Pure.
///
/// Only the provider's own word about the token is definite: an `error` in an answer of status 400, or one that names
/// the token's fate with another. A page that is not found, a redirect or an empty refusal may be a proxy, maintenance
/// or a mistaken setting; the token is still to be revoked, and asking again is harmless.
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
        // Our credentials are refused: an operator mends them, and the token is still to be revoked. Nor is the token's
        // fate told by a status that says that nothing was done.
        case 401, 403, 408, 425, 429: return .failed(statement, retryAfter: delay)
        case 200...299, 400...499: break
        default: return .failed(statement, retryAfter: delay)
        }
        if complaint.isError("unsupported_token_type") { return .unsupported }
        // A token that the provider does not know is no error by the standard; several say so all the same.
        if complaint.isError("invalid_token", "invalid_grant", "token_not_found") { return .revoked }
        // By the provider's own words for it too.
        if Refusal(complaint, .refresh, rules).meaning == .credentials { return .failed(statement, retryAfter: delay) }
        let isDefinite = complaint.error != nil && (answer.isSuccess || answer.status == 400)
        return isDefinite ? .refused(statement) : .failed(statement, retryAfter: delay)
    }
}
