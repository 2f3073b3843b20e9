// SPDX-License-Identifier: Apache-2.0
package import Consents

/// An answer that is no success, before it has a body (RFC 9457).
package struct Problem: Error, Sendable, Equatable {
    package var status: Int
    /// The contract's word.
    package var code: String
    package var title: String
    package var detail: String
    package var statement: ProviderStatement?
    /// Whole seconds until the same request may succeed.
    package var retryAfter: Int64?
    /// What `WWW-Authenticate` says (RFC 6750, section 3), where the status asks for it.
    package var challenge: String?
    /// The methods that `Allow` names.
    package var allow: String?

    package init(
        _ status: Int, _ code: ProblemCode, _ title: String, _ detail: String, statement: ProviderStatement? = nil,
        retryAfter: Int64? = nil, challenge: String? = nil, allow: String? = nil
    ) {
        self.status = status
        assert(code.statuses.contains(status), "a status that the code is not described with")
        self.code = code.rawValue
        self.title = title
        self.detail = detail
        self.statement = statement
        self.retryAfter = retryAfter
        self.challenge = challenge
        self.allow = allow
    }
}

extension Problem {
    /// Every code that an answer can have, in the order of the contract's table; all others are counted as `other`.
    package static let codes = ProblemCode.allCases.map(\.rawValue)
}

/// What the edge itself finds wrong with a request.
extension Problem {
    static func invalidRequest(_ detail: String) -> Problem {
        Problem(400, .invalidRequest, "The request cannot be understood", detail)
    }

    static let secretInRequest = Problem(
        400, .secretInRequest, "A client secret has no place in a request",
        "The request holds a client_secret. The secret stays on this server; take it out of the app, and have the "
            + "provider issue a new one.")

    static func unauthenticated(hasCredentials: Bool) -> Problem {
        Problem(
            401, .unauthenticated, "Who calls is not known",
            hasCredentials
                ? "The bearer token is not a valid API key of this gateway, or it has expired or was revoked; "
                    + "a new key is known within 5 seconds."
                : "Send an API key as `Authorization: Bearer cgk_...`.",
            challenge: hasCredentials
                ? #"Bearer realm="consent-gateway", error="invalid_token""# : #"Bearer realm="consent-gateway""#)
    }

    /// A user's session token that proves nothing.
    static func sessionRefused(_ reason: String) -> Problem {
        Problem(
            401, .unauthenticated, "Who calls is not known",
            "The bearer token is neither an API key nor a valid session of a user: \(reason).",
            challenge: #"Bearer realm="consent-gateway", error="invalid_token""#)
    }

    /// Nobody's fault who calls: a 401 would have an app log its user out.
    static let sessionKeysUnavailable = Problem(
        503, .providerUnavailable, "Who calls cannot be found out now",
        "The keys of the session's issuer cannot be had. Nothing was done; send the same request again.",
        retryAfter: 5)

    static func notForUsers(_ scope: CallerScope) -> Problem {
        Problem(
            403, .insufficientScope, "A user may not do this",
            "This call is for API keys with the scope \(scope.rawValue).",
            challenge: #"Bearer realm="consent-gateway", error="insufficient_scope""#)
    }

    static let subjectOfUser = invalidRequest(
        "subject: a user is the subject of its own session; leave it out.")

    static func insufficientScope(_ scope: CallerScope) -> Problem {
        Problem(
            403, .insufficientScope, "The API key does not allow this",
            "This call needs the scope \(scope.rawValue).",
            challenge: #"Bearer realm="consent-gateway", error="insufficient_scope", scope="\#(scope.rawValue)""#)
    }

    static let notFound = Problem(404, .notFound, "Not found", "There is nothing here for this caller.")

    static func methodNotAllowed(_ allow: String) -> Problem {
        Problem(405, .methodNotAllowed, "The method is not allowed here", "Allowed: \(allow).", allow: allow)
    }

    static let notAcceptable = Problem(
        406, .notAcceptable, "Only JSON can be answered", "The Accept header excludes application/json.")

    static func notAcceptable(_ forms: [String]) -> Problem {
        Problem(
            406, .notAcceptable, "None of the forms is accepted",
            "The Accept header excludes \(forms.joined(separator: ", ")).")
    }

    static func rateLimited(_ setting: String, _ delay: Duration) -> Problem {
        Problem(
            429, .rateLimited, "Too many requests", "The limit \(setting) is reached; try again later.",
            retryAfter: delay.components.seconds + 1)
    }

    static let unsupportedMediaType = Problem(
        415, .unsupportedMediaType, "The body must be JSON", "Send it with `Content-Type: application/json`.")
    static let bodyTooLarge = Problem(
        413, .bodyTooLarge, "The body is too large", "The body is over the limit server.limits.body.")
    static let headersTooLarge = Problem(
        431, .headersTooLarge, "The headers are too large", "The headers are over the limit server.limits.headers.")
}
