// SPDX-License-Identifier: Apache-2.0

/// What a complaint means: by the provider's own rules, then by the table of refresh.md, *What an outcome means*.
struct Refusal: Sendable {
    let meaning: ErrorClass

    init(_ complaint: Complaint, _ call: TokenReader.Call, _ rules: AnswerRules) {
        let ruled = (call == .code ? rules.codeErrors : rules.refreshErrors).first { rule in
            guard rule.fits(complaint) else { return false }
            guard rule.errorClass == .grantDead else { return true }
            return Refusal.isWord(complaint.status, rule) && (call == .code || rule.mayEndGrant(complaint))
        }
        meaning = ruled?.errorClass ?? Refusal.standard(complaint)
    }

    /// Whether a status is one under which a code or grant can be told to be gone: a success, a 4xx that is an answer to
    /// what was asked, and what the rule names itself. A rule without statuses is no rule for a server that has failed or
    /// was too busy to look.
    private static func isWord(_ status: Int, _ rule: ErrorRule) -> Bool {
        if rule.statuses.contains(status) { return true }
        return (200...299).contains(status) || (400...499).contains(status) && !isUnprocessed(status)
    }

    /// Request Timeout, Too Early (RFC 9110, section 15.5.9; RFC 8470, section 5.2), Too Many Requests, Service
    /// Unavailable: whatever the body says, nobody has looked at the request.
    private static func isUnprocessed(_ status: Int) -> Bool { [408, 425, 429, 503].contains(status) }

    /// Only the provider's own word ends a grant; a server that has failed has given none.
    private static func standard(_ complaint: Complaint) -> ErrorClass {
        if complaint.isError("RATE_LIMIT_REACHED") || isUnprocessed(complaint.status) { return .throttled }
        switch complaint.status {
        case 200...299, 400...499:
            if complaint.isError("invalid_grant") { return .grantDead }
            // The words that the standards have for a 503, a 429 and a 500 where a status cannot be given: RFC 6749,
            // section 4.1.2.1, and RFC 8628, section 3.5.
            if complaint.isError("temporarily_unavailable", "slow_down") { return .throttled }
            if complaint.isError("server_error") { return .unknown }
            if complaint.isError("invalid_client", "unauthorized_client") { return .credentials }
            return isBare(complaint) ? .credentials : .request
        case 300...399: return .request
        default: return .unknown
        }
    }

    /// A 401 or 403 that names no error. A page for people comes from something in front of the provider.
    private static func isBare(_ complaint: Complaint) -> Bool {
        (complaint.status == 401 || complaint.status == 403) && complaint.error == nil && complaint.bodyKind != .html
    }
}
