// SPDX-License-Identifier: Apache-2.0

/// The contract's word for each problem, in the order of its table (section 2). `Config/openapi.yaml` describes each.
package enum ProblemCode: String, Sendable, CaseIterable {
    case invalidRequest = "invalid_request"
    case secretInRequest = "secret_in_request"
    case environmentMismatch = "environment_mismatch"
    case unknownNotice = "unknown_notice"
    case redirectURINotAllowed = "redirect_uri_not_allowed"
    case pkceRequired = "pkce_required"
    case unauthenticated
    case insufficientScope = "insufficient_scope"
    case accessTokensOff = "access_tokens_off"
    case notFound = "not_found"
    case unknownProvider = "unknown_provider"
    case methodNotAllowed = "method_not_allowed"
    case notAcceptable = "not_acceptable"
    case codeAlreadyUsed = "code_already_used"
    case sharedSubject = "shared_subject"
    case consentEnded = "consent_ended"
    case reauthorizationRequired = "reauthorization_required"
    case bodyTooLarge = "body_too_large"
    case unsupportedMediaType = "unsupported_media_type"
    case codeRejected = "code_rejected"
    case idTokenInvalid = "id_token_invalid"
    case rateLimited = "rate_limited"
    case headersTooLarge = "headers_too_large"
    case providerMisconfigured = "provider_misconfigured"
    case providerBadResponse = "provider_bad_response"
    case exchangeUnknown = "exchange_unknown"
    case exchangePending = "exchange_pending"
    case providerUnavailable = "provider_unavailable"
    case `internal`

    /// The statuses that it comes with.
    package var statuses: [Int] {
        switch self {
        case .invalidRequest: [400, 408]
        case .secretInRequest, .environmentMismatch, .unknownNotice, .redirectURINotAllowed, .pkceRequired: [400]
        case .unauthenticated: [401]
        case .insufficientScope, .accessTokensOff: [403]
        case .notFound, .unknownProvider: [404]
        case .methodNotAllowed: [405]
        case .notAcceptable: [406]
        case .codeAlreadyUsed, .sharedSubject, .consentEnded, .reauthorizationRequired: [409]
        case .bodyTooLarge: [413]
        case .unsupportedMediaType: [415]
        case .codeRejected, .idTokenInvalid: [422]
        case .rateLimited: [429]
        case .headersTooLarge: [431]
        case .providerMisconfigured, .providerBadResponse: [502]
        case .exchangeUnknown: [504]
        case .exchangePending, .providerUnavailable: [503]
        case .internal: [500]
        }
    }
}
