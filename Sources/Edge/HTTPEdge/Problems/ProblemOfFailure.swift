// SPDX-License-Identifier: Apache-2.0
import Consents

/// The one place where a failure becomes an answer.
extension Problem {
    init(_ failure: ConsentFailure) {
        switch failure {
        case .unknownProvider, .unknownNotice, .environmentMismatch, .redirectURINotAllowed, .proofKeyRequired,
            .nonceRequired, .nonceUnchecked, .otherIssuer:
            self = Problem.ofRequest(failure)
        case .rateLimited(let delay):
            self = .rateLimited("server.limits.exchanges_per_subject", delay)
        case .accessTokensOff:
            self = Problem(
                403, .accessTokensOff, "Access tokens are not handed out",
                "The provider's setting access_tokens is off.",
                challenge: #"Bearer realm="consent-gateway", error="insufficient_scope""#)
        case .notFound, .consentEnded, .reauthorizationRequired:
            self = Problem.ofRecord(failure)
        case .codeAlreadyUsed, .sharedSubject, .codeRejected, .idTokenInvalid, .providerBadResponse, .exchangeUnknown:
            self = Problem.ofCode(failure)
        case .exchangePending, .refreshPending, .refreshUnknown, .heldBack, .providerUnavailable, .storeUnavailable,
            .refreshingStopped:
            self = Problem.ofMoment(failure)
        case .providerMisconfigured, .providerAbsent, .clientChanged, .evidenceDiffers, .ourFault:
            self = Problem.ofGateway(failure)
        }
    }

    private static func ofRequest(_ failure: ConsentFailure) -> Problem {
        switch failure {
        case .unknownNotice:
            return Problem(
                400, .unknownNotice, "The notice is not configured",
                "Name a configured notice as ID@VERSION, or none.")
        case .environmentMismatch(let provider, let response):
            return Problem(
                400, .environmentMismatch, "The app and the gateway use different environments",
                "The authorization response is of the environment \(shortened(response)); "
                    + (provider.map { "the provider is of the environment \($0)." }
                        ?? "the provider has no environments. Name the provider that the app's SDK is for."))
        case .redirectURINotAllowed:
            return Problem(
                400, .redirectURINotAllowed, "The redirect URI is not allowed",
                "The redirect_uri is not among the provider's redirect_uris; they are compared byte for byte.")
        case .proofKeyRequired:
            return Problem(
                400, .pkceRequired, "The code needs its verifier",
                "This provider is used with PKCE (RFC 7636): send the code_verifier with the code.")
        case .nonceRequired:
            return .invalidRequest(
                "nonce: this provider is used with a nonce; send the one of the authorization request.")
        case .nonceUnchecked:
            return .invalidRequest(
                "nonce: this provider's ID tokens are not verified, so it proves nothing; leave it out.")
        case .otherIssuer:
            return .invalidRequest(
                "iss: the authorization response is not this provider's (RFC 9207); the code was not sent.")
        default:
            return Problem(
                404, .unknownProvider, "The provider is not configured",
                "Name a configured provider; without a name the only PayPal provider of the response's environment "
                    + "is taken.")
        }
    }

    private static func ofRecord(_ failure: ConsentFailure) -> Problem {
        switch failure {
        case .consentEnded(let status):
            return Problem(
                409, .consentEnded, "The consent has ended", "The record is \(status.rawValue) and stays so.")
        case .reauthorizationRequired(let reason):
            return Problem(
                409, .reauthorizationRequired, "The person must consent again",
                "The grant is gone (\(reason?.rawValue ?? "unknown")): ask for a new consent.")
        default:
            return .notFound
        }
    }

    private static func ofCode(_ failure: ConsentFailure) -> Problem {
        let again = "Ask for consent again."
        switch failure {
        case .codeRejected(let statement):
            return Problem(
                422, .codeRejected, "The provider does not take the code",
                "It has expired, was used or is not genuine. \(again)", statement: statement)
        case .idTokenInvalid(let reason):
            return Problem(
                422, .idTokenInvalid, "The ID token cannot be trusted",
                (reason.map { "\($0). " } ?? "") + "The code is spent. \(again)")
        case .sharedSubject:
            return Problem(
                409, .sharedSubject, "The account at the provider belongs to another subject",
                "Another live consent of this provider's account is held for another subject (on_shared_subject). "
                    + "The code is spent; nothing is kept of it.")
        case .providerBadResponse(let statement):
            return Problem(
                502, .providerBadResponse, "The provider's answer cannot be read",
                "The code is spent. \(again)", statement: statement)
        case .exchangeUnknown(let statement):
            return Problem(
                504, .exchangeUnknown, "Nobody knows what became of the code",
                "It went out and no answer came; it is not sent again. \(again)", statement: statement)
        default:
            return Problem(
                409, .codeAlreadyUsed, "The code belongs to somebody else",
                "This code was presented before, for another subject.")
        }
    }

    private static func ofMoment(_ failure: ConsentFailure) -> Problem {
        switch failure {
        case .exchangePending:
            return Problem(
                503, .exchangePending, "The provider's answer is still awaited",
                "Send the same request again; the code is not sent twice.", retryAfter: 2)
        case .refreshPending:
            return Problem(
                503, .providerUnavailable, "The provider's answer is still awaited",
                "The refresh goes on; ask again.", retryAfter: 2)
        case .refreshUnknown(let delay, let statement):
            return Problem(
                503, .providerUnavailable, "Nobody knows whether the provider has refreshed the grant",
                "It is kept, and asked for again when that is safe; the person need not consent again for this.",
                statement: statement, retryAfter: max(1, delay.wholeSeconds))
        case .heldBack(let delay):
            return Problem(
                503, .providerUnavailable, "Nobody knows what became of the grant's last refresh",
                "Nothing was sent now: another request could end the grant before its access token has lapsed.",
                retryAfter: max(1, delay.wholeSeconds))
        case .providerUnavailable(let delay, let statement):
            return Problem(
                503, .providerUnavailable, "The provider cannot be asked now",
                "Nothing was spent; send the same request again.", statement: statement,
                retryAfter: max(1, delay.wholeSeconds))
        case .refreshingStopped:
            return Problem(
                503, .providerUnavailable, "Nothing is refreshed now",
                "The store came back from a copy, and an operator has yet to accept it. Nothing was spent.",
                retryAfter: 60)
        default:
            return Problem(
                503, .providerUnavailable, "The store takes no writes now",
                "Send the same request again; nothing is sent to the provider twice.", retryAfter: 2)
        }
    }

    private static func ofGateway(_ failure: ConsentFailure) -> Problem {
        switch failure {
        case .providerMisconfigured(let statement):
            return Problem(
                502, .providerMisconfigured, "The provider refuses the gateway",
                "Its credentials or its request are not accepted; an operator must look. Nothing was spent.",
                statement: statement)
        case .providerAbsent:
            return Problem(
                502, .providerMisconfigured, "The grant's provider is not configured",
                "Nothing was sent; an operator must configure it again under the name that the record has.")
        case .clientChanged:
            return Problem(
                502, .providerMisconfigured, "The grant belongs to another client",
                "The configured client_id, token endpoint or environment is not the one that the grant was issued to.")
        case .evidenceDiffers:
            return Problem(
                500, .internal, "The record does not agree with its chain of events",
                "No receipt is made of it; an operator must look: `verify` names what differs.")
        default:
            return Problem(500, .internal, "Something went wrong here", "The log names it by the request id.")
        }
    }

    /// A caller's own word in an answer, harmless and short.
    private static func shortened(_ text: String) -> String {
        String(
            text.unicodeScalars.filter { $0.isASCII && $0.value > 0x20 && $0.value < 0x7F }.prefix(32).map(
                Character.init))
    }
}
