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
        _ status: Int, _ code: String, _ title: String, _ detail: String, statement: ProviderStatement? = nil,
        retryAfter: Int64? = nil, challenge: String? = nil, allow: String? = nil
    ) {
        self.status = status
        self.code = code
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
    package static let codes = [
        "invalid_request", "secret_in_request", "environment_mismatch", "unknown_notice", "redirect_uri_not_allowed",
        "pkce_required", "unauthenticated", "insufficient_scope", "access_tokens_off", "not_found", "unknown_provider",
        "method_not_allowed", "not_acceptable", "code_already_used", "consent_ended", "reauthorization_required",
        "body_too_large", "unsupported_media_type", "code_rejected", "id_token_invalid", "rate_limited",
        "headers_too_large", "provider_misconfigured", "provider_bad_response", "exchange_unknown",
        "exchange_pending", "provider_unavailable", "internal",
    ]
}

/// What the edge itself finds wrong with a request.
extension Problem {
    static func invalidRequest(_ detail: String) -> Problem {
        Problem(400, "invalid_request", "The request cannot be understood", detail)
    }

    static let secretInRequest = Problem(
        400, "secret_in_request", "A client secret has no place in a request",
        "The request holds a client_secret. The secret stays on this server; take it out of the app, and have the "
            + "provider issue a new one.")

    static func unauthenticated(hasCredentials: Bool) -> Problem {
        Problem(
            401, "unauthenticated", "Who calls is not known",
            hasCredentials
                ? "The bearer token is not a valid API key of this gateway, or it has expired or was revoked."
                : "Send an API key as `Authorization: Bearer cgk_...`.",
            challenge: hasCredentials
                ? #"Bearer realm="consent-gateway", error="invalid_token""# : #"Bearer realm="consent-gateway""#)
    }

    static func insufficientScope(_ scope: CallerScope) -> Problem {
        Problem(
            403, "insufficient_scope", "The API key does not allow this",
            "This call needs the scope \(scope.rawValue).",
            challenge: #"Bearer realm="consent-gateway", error="insufficient_scope", scope="\#(scope.rawValue)""#)
    }

    static let notFound = Problem(404, "not_found", "Not found", "There is nothing here for this caller.")

    static func methodNotAllowed(_ allow: String) -> Problem {
        Problem(405, "method_not_allowed", "The method is not allowed here", "Allowed: \(allow).", allow: allow)
    }

    static let notAcceptable = Problem(
        406, "not_acceptable", "Only JSON can be answered", "The Accept header excludes application/json.")
    static func rateLimited(_ setting: String, _ delay: Duration) -> Problem {
        Problem(
            429, "rate_limited", "Too many requests", "The limit \(setting) is reached; try again later.",
            retryAfter: delay.components.seconds + 1)
    }

    static let unsupportedMediaType = Problem(
        415, "unsupported_media_type", "The body must be JSON", "Send it with `Content-Type: application/json`.")
    static let bodyTooLarge = Problem(
        413, "body_too_large", "The body is too large", "The body is over the limit server.limits.body.")
    static let headersTooLarge = Problem(
        431, "headers_too_large", "The headers are too large", "The headers are over the limit server.limits.headers.")
}
