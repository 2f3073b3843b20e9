// SPDX-License-Identifier: Apache-2.0
internal import Consents

/// What an event means for the grant it happened to.
struct EventWords {
    private let event: EventDraft

    init(_ event: EventDraft) { self.event = event }

    var told: GrantWords.Told {
        let (blames, says) = meaning
        return GrantWords.Told(at: event.at, type: event.type.rawValue, blames: blames, says: says + statement + odd)
    }

    private var meaning: (blames: String?, says: String) {
        switch event.type {
        case .created: (nil, "the person consented")
        case .renewed: (nil, "the person consented again")
        case .refreshed: (nil, "it was refreshed")
        case .refreshFailed: failure
        case .reauthorizationRequired: (text("blame") ?? "the grant", "the grant is gone, \(reason)")
        case .reauthorizationSoon: (nil, "its refresh token nears its end while tries fail")
        case .spareKept: (nil, "another refresh was saved first; what this one brought is kept apart")
        case .spareTried: (nil, "its refresh token was refused; the one that was kept apart is tried")
        case .superseded: (nil, "a newer record took its place")
        case .expired: (nil, "its access token lapsed, and there is no refresh token")
        case .revoked: (nil, "it was withdrawn by \(reason)")
        case .tokenRevocation: (nil, "a token was to be revoked at the provider: \(text("outcome") ?? "unknown")")
        case .identityUnverified: (nil, "its ID token cannot be verified here, and no profile is trusted: \(reason)")
        case .idTokenRefused: ("the provider", "the ID token of a refresh is refused, its tokens are kept: \(reason)")
        default: (nil, event.type.rawValue)
        }
    }

    /// Whom a failed refresh blames (refresh.md, *What an outcome means*).
    private var failure: (blames: String?, says: String) {
        let word = text("failure") ?? "unknown"
        let (blames, says) =
            switch word {
            case "refresh_unknown": ("nobody yet", "it went out, and no definite answer came")
            case "provider_unavailable": ("the provider", "the provider took no requests")
            case "provider_misconfigured":
                ("the operator", "the provider refused the gateway's credentials or its request")
            default: ("the gateway", "the refresh failed (\(word))")
            }
        return (text("blame") ?? blames, says)
    }

    private var reason: String { text("reason") ?? "for no told reason" }

    /// What the provider said, as in `; it said 400 invalid_grant`.
    private var statement: String {
        var parts: [String] = []
        if case .integer(let status)? = event.data["provider_status"], status != 0 { parts.append(String(status)) }
        if let error = text("provider_error") { parts.append(error) }
        if let description = text("provider_error_description") { parts.append("(\(description))") }
        return parts.isEmpty ? "" : "; it said " + parts.joined(separator: " ")
    }

    /// What was odd in the answer and taken all the same.
    private var odd: String { text("oddities").map { "; odd in the answer: \($0)" } ?? "" }

    private func text(_ name: String) -> String? {
        if case .text(let text)? = event.data[name] { text } else { nil }
    }
}
