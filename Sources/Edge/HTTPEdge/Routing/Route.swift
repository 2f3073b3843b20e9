// SPDX-License-Identifier: Apache-2.0
import Consents

/// The calls of the API listener. The table of what each asks of its caller is this file.
enum Route: Sendable, Equatable {
    case createConsent
    case consent(ConsentID)
    case refresh(ConsentID)

    /// What a path and a method come to.
    enum Match: Sendable, Equatable {
        case route(Route)
        /// The path exists, for other methods.
        case otherMethods(allow: String)
        case nothing
    }

    /// The scope that an API key needs.
    var scope: CallerScope {
        switch self {
        case .createConsent, .refresh: .consentsWrite
        case .consent: .consentsRead
        }
    }

    /// The route's name in log lines and metrics.
    var pattern: String {
        switch self {
        case .createConsent: "/v1/consents"
        case .consent: "/v1/consents/{id}"
        case .refresh: "/v1/consents/{id}/refresh"
        }
    }

    /// Whether a body is expected: one that is there must then be JSON.
    var needsBody: Bool { self == .createConsent }

    /// The methods that log lines name; any other text is a caller's own.
    static func isMethod(_ text: String) -> Bool {
        ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].contains(text)
    }

    static func match(method: String, segments: [String]) -> Match {
        guard segments.count >= 2, segments[0] == "v1", segments[1] == "consents" else { return .nothing }
        if segments.count == 2 {
            return method == "POST" ? .route(.createConsent) : .otherMethods(allow: "POST")
        }
        guard let id = ConsentID(segments[2]) else { return .nothing }
        switch (segments.count, segments.count == 4 ? segments[3] : "") {
        case (3, _):
            return method == "GET" || method == "HEAD" ? .route(.consent(id)) : .otherMethods(allow: "GET, HEAD")
        case (4, "refresh"):
            return method == "POST" ? .route(.refresh(id)) : .otherMethods(allow: "POST")
        default:
            return .nothing
        }
    }
}
