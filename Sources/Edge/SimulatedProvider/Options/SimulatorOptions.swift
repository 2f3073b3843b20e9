// SPDX-License-Identifier: Apache-2.0

/// How a simulated provider behaves, decided before it starts.
package struct SimulatorOptions: Sendable {
    /// The one client that may redeem codes; further ones with `clients`.
    package static let defaultClientID = "simulated-client"
    package static let defaultClientSecret = "simulated-secret"

    /// Secrets by client identifier.
    package var clients = [SimulatorOptions.defaultClientID: SimulatorOptions.defaultClientSecret]
    /// How identifier and secret are written into HTTP Basic before base64.
    package var basicEncoding = BasicEncoding.rfc6749
    package var refreshMode = RefreshMode.static
    /// Seconds that a code issued here can be redeemed for; PayPal's live about three minutes.
    package var codeLifetime = 180
    /// Seconds that an access token works for; PayPal's live from 900 to 28,800.
    package var accessTokenLifetime = 900
    /// With what ID tokens are signed, at OpenID's endpoints; nil: none are issued.
    package var signingKeys: SigningKeys?
    /// Seconds that an ID token is good for.
    package var idTokenLifetime = 3600
    /// Whether OpenID's userinfo endpoint answers with a signed token; it needs `signingKeys`.
    package var signsUserinfo = false
    /// What a code grants that names no scopes.
    package var scopes = [
        "openid", "profile", "email", "address", "phone", "https://uri.paypal.com/services/paypalattributes",
    ]
    /// Codes that work for ever, as the one that PayPal's mock environment hands out; any code that begins so.
    /// The default is the sample of PayPal's SDK documentation.
    package var constantCodes = ["EBYhRW3ncivudQn8UopLp4A28"]
    /// Whether `code-for:PERSON:TEXT` and `fault:NAME:TEXT` work once though they were never issued here.
    package var takesSelfMadeCodes = true
    /// What the authorization responses name that are made here, where the request for a code names none.
    package var environment = "mock"
    /// A fault that is set from the start; nil for fair weather.
    package var fault: Fault?
    /// How many codes, grants and counts are remembered, each; the oldest are forgotten first, and a self-made code
    /// that was forgotten works again.
    package var capacity = 200_000
    /// How many requests are kept whole for `recordedCalls`; the oldest are forgotten first.
    package var recordedCalls = 1_000

    package init() {}
}

/// How a client's identifier and secret are written into HTTP Basic.
package enum BasicEncoding: Sendable, Equatable {
    /// Each form-encoded first (RFC 6749 section 2.3.1).
    case rfc6749
    /// As they are.
    case raw
}

/// What becomes of a refresh token that was used.
package enum RefreshMode: Sendable, Equatable {
    /// It stays; an answer to a refresh carries none, as PayPal's.
    case `static`
    /// Each answer carries a new one and the old one is dead at once; a dead one does no harm.
    case rotating
    /// As `rotating`, and a dead one that comes back ends the whole family (RFC 9700 section 4.14.2).
    case reuseDetection
    /// As `reuseDetection`, but for so many seconds the last dead one brings its successor once more.
    case grace(seconds: Int)

    /// The mode as a word: `static`, `rotating`, `reuse_detection`, `grace:SECONDS`; nil for anything else.
    package init?(_ text: String) {
        switch text {
        case "static": self = .static
        case "rotating": self = .rotating
        case "reuse_detection": self = .reuseDetection
        default:
            guard text.hasPrefix("grace:"), let seconds = Int(text.dropFirst(6)), seconds >= 0 else { return nil }
            self = .grace(seconds: seconds)
        }
    }
}
