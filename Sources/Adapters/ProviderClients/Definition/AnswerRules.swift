// SPDX-License-Identifier: Apache-2.0

/// How a provider's token answers are read where the standard leaves it open, or the provider leaves the standard.
package struct AnswerRules: Sendable {
    /// What a refused code exchange means; the first rule that fits holds, then the table of refresh.md.
    package var codeErrors: [ErrorRule]
    /// What a refused refresh means, likewise.
    package var refreshErrors: [ErrorRule]
    /// Whether a wrong client secret is answered as a dead refresh token is, so that a refusal must be looked into.
    package var isDeathConfirmed = false
    /// Members that hold the provider's correlation id, in the order in which they are looked for.
    package var correlationMembers: [String]
    /// Header fields that hold it; compared without regard to case.
    package var correlationHeaders: [String]
    package var lifetimeUnit: LifetimeUnit
    /// Where a member of a token answer stands if not at the top under its own name: `access_token` and the like, each
    /// with the one place where it is looked for. The answer of a provider that gives two tokens holds another's there.
    package var tokenMembers: [String: JSONPointer]
    /// Scopes that are no surprise in an answer: the configured ones, and those that the profile knows.
    package var expectedScopes: Set<String> = []

    package enum LifetimeUnit: Sendable { case seconds, milliseconds }

    package init(
        codeErrors: [ErrorRule], refreshErrors: [ErrorRule], correlationMembers: [String],
        correlationHeaders: [String], lifetimeUnit: LifetimeUnit, tokenMembers: [String: JSONPointer]
    ) {
        self.codeErrors = codeErrors
        self.refreshErrors = refreshErrors
        self.correlationMembers = correlationMembers
        self.correlationHeaders = correlationHeaders
        self.lifetimeUnit = lifetimeUnit
        self.tokenMembers = tokenMembers
    }
}

/// What a refused call means (refresh.md, *What an outcome means*).
package enum ErrorClass: String, Sendable, CaseIterable {
    /// The grant or the code is gone.
    case grantDead = "grant_dead"
    /// The client's credentials are refused.
    case credentials
    /// The request as such is refused.
    case request
    /// Too many calls.
    case throttled
    /// The provider has not processed it.
    case notProcessed = "not_processed"
    /// Nobody knows whether it was processed.
    case unknown
}

/// One line of an error map. All that is given must fit; what is nil or empty fits anything.
package struct ErrorRule: Sendable, Equatable {
    /// HTTP status codes. A grant or code is only called dead under another than 2xx and 4xx where it stands here.
    package var statuses: [Int]
    /// Values of the member `error` (or `name`), compared without regard to ASCII case.
    package var errors: [String]
    /// A part of `error_description` (or `message`), compared without regard to ASCII case.
    package var descriptionContains: String?
    /// Whether the body must be empty.
    package var needsEmptyBody: Bool
    package var errorClass: ErrorClass

    package init(
        statuses: [Int], errors: [String], descriptionContains: String?, needsEmptyBody: Bool, errorClass: ErrorClass
    ) {
        self.statuses = statuses
        self.errors = errors
        self.descriptionContains = descriptionContains
        self.needsEmptyBody = needsEmptyBody
        self.errorClass = errorClass
    }

    func fits(_ complaint: Complaint) -> Bool {
        guard statuses.isEmpty || statuses.contains(complaint.status) else { return false }
        if !errors.isEmpty {
            guard let error = complaint.error, errors.contains(where: { $0.isSameASCII(as: error) }) else {
                return false
            }
        }
        if let part = descriptionContains {
            guard let description = complaint.description, description.containsASCII(part) else { return false }
        }
        return !needsEmptyBody || complaint.bodyKind == .empty
    }

    /// Whether the rule may end a grant: an `error` other than `invalid_grant` only together with a description or an
    /// empty body (refresh.md, *What an outcome means*).
    func mayEndGrant(_ complaint: Complaint) -> Bool {
        complaint.error?.isSameASCII(as: "invalid_grant") == true || descriptionContains != nil || needsEmptyBody
    }
}

extension String {
    /// Whether both are the same but for the case of `A-Z`, so that no locale has a say.
    func isSameASCII(as other: String) -> Bool {
        let these = utf8.span
        let those = other.utf8.span
        return these.count == those.count && these.indices.allSatisfy { String.isSameASCII(these[$0], those[$0]) }
    }

    func containsASCII(_ part: String) -> Bool {
        let (text, wanted) = (Array(utf8), Array(part.utf8))
        guard text.count >= wanted.count else { return false }
        return (0...(text.count - wanted.count)).contains { text[$0...].starts(with: wanted, by: String.isSameASCII) }
    }

    private static func isSameASCII(_ left: UInt8, _ right: UInt8) -> Bool {
        func lowercase(_ byte: UInt8) -> UInt8 { 0x41...0x5A ~= byte ? byte | 0x20 : byte }
        return lowercase(left) == lowercase(right)
    }
}
