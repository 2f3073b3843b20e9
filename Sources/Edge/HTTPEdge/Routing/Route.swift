// SPDX-License-Identifier: Apache-2.0
import Consents

/// The calls of the API listener. The table of what each asks of its caller is this file.
enum Route: Sendable, Equatable {
    case createConsent
    case listConsents
    case consent(ConsentID)
    case withdraw(ConsentID)
    case profile(ConsentID)
    case refresh(ConsentID)
    case accessToken(ConsentID)
    case events(ConsentID)
    case receipt(ConsentID)

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
        case .createConsent, .refresh, .withdraw: .consentsWrite
        case .listConsents, .consent, .events, .receipt: .consentsRead
        case .profile: .profilesRead
        case .accessToken: .tokensRead
        }
    }

    /// Whether one of the merchant's users may make the call, for what is their own.
    var isForUsers: Bool {
        switch self {
        case .createConsent, .listConsents, .consent, .withdraw, .profile, .events, .receipt: true
        case .refresh, .accessToken: false
        }
    }

    /// The record that it is about; nil where it is about none in particular.
    var consent: ConsentID? {
        switch self {
        case .createConsent, .listConsents: nil
        case .consent(let id), .withdraw(let id), .profile(let id), .refresh(let id), .accessToken(let id),
            .events(let id), .receipt(let id):
            id
        }
    }

    /// The route's name in log lines and metrics.
    var pattern: String {
        switch self {
        case .createConsent, .listConsents: "/v1/consents"
        case .consent, .withdraw: "/v1/consents/{id}"
        case .profile: "/v1/consents/{id}/profile"
        case .refresh: "/v1/consents/{id}/refresh"
        case .accessToken: "/v1/consents/{id}/access-token"
        case .events: "/v1/consents/{id}/events"
        case .receipt: "/v1/consents/{id}/receipt"
        }
    }

    /// Every name that a route can have.
    static let patterns =
        [
            "/v1/consents", "/v1/consents/{id}", "/v1/consents/{id}/profile", "/v1/consents/{id}/refresh",
            "/v1/consents/{id}/access-token", "/v1/consents/{id}/events", "/v1/consents/{id}/receipt",
        ] + PublicPages.paths

    /// What the answer can be, the usual form first; nil where it is JSON only.
    var forms: [String]? { if case .receipt = self { ReceiptForm.allCases.map(\.rawValue) } else { nil } }

    /// What a call does with a body; one that is read must be JSON.
    enum BodyUse: Sendable { case none, optional, required }

    var body: BodyUse {
        switch self {
        case .createConsent: .required
        // All of its members have defaults.
        case .accessToken: .optional
        default: .none
        }
    }

    /// The methods that log lines name; any other text is a caller's own.
    static func isMethod(_ text: String) -> Bool {
        ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].contains(text)
    }

    static func match(method: String, segments: [String]) -> Match {
        guard segments.count >= 2, segments[0] == "v1", segments[1] == "consents" else { return .nothing }
        if segments.count == 2 { return choose(method, get: .listConsents, post: .createConsent) }
        guard let id = ConsentID(segments[2]) else { return .nothing }
        if segments.count == 3 { return choose(method, get: .consent(id), delete: .withdraw(id)) }
        guard segments.count == 4 else { return .nothing }
        switch segments[3] {
        case "profile": return choose(method, get: .profile(id))
        case "refresh": return choose(method, post: .refresh(id))
        case "access-token": return choose(method, post: .accessToken(id))
        case "events": return choose(method, get: .events(id))
        case "receipt": return choose(method, get: .receipt(id))
        default: return .nothing
        }
    }

    private static func choose(_ method: String, get: Route? = nil, post: Route? = nil, delete: Route? = nil) -> Match {
        let found: Route? =
            switch method {
            case "GET", "HEAD": get
            case "POST": post
            case "DELETE": delete
            default: nil
            }
        if let found { return .route(found) }
        let allowed = [get.map { _ in "GET, HEAD" }, post.map { _ in "POST" }, delete.map { _ in "DELETE" }]
        return .otherMethods(allow: allowed.compactMap(\.self).joined(separator: ", "))
    }
}
