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

    /// Whether a status is one under which a code or grant can be told to be gone: a success, a 4xx, and what the rule
    /// names itself. A rule without statuses is no rule for a server that has failed.
    private static func isWord(_ status: Int, _ rule: ErrorRule) -> Bool {
        (200...299).contains(status) || (400...499).contains(status) || rule.statuses.contains(status)
    }

    /// Only the provider's own word ends a grant; a server that has failed has given none.
    private static func standard(_ complaint: Complaint) -> ErrorClass {
        if complaint.isError("RATE_LIMIT_REACHED") { return .throttled }
        switch complaint.status {
        case 429, 503: return .throttled
        case 200...299, 400...499:
            if complaint.isError("invalid_grant") { return .grantDead }
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
