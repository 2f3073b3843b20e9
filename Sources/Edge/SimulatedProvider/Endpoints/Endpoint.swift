// SPDX-License-Identifier: Apache-2.0

/// The names under which the log counts calls.
package enum Endpoint: String, Sendable, CaseIterable {
    case exchange
    case refresh
    /// The token endpoint with another grant type.
    case token
    case userinfo
    case revoke
    case discovery
    case keys = "jwks"
    case authorize
    case simulator
    case unknown
}

/// Where a request goes, by method and path.
enum Route: Sendable {
    enum Words: Sendable {
        case paypal
        case standard
    }

    case token(Words, FormPairs)
    case userinfo(Words, UserinfoSchema)
    case revoke(Words, FormPairs)
    case discovery
    case keys
    case authorize
    case issueCode
    case log
    case setFault
    case listFaults
    case rotateKeys
    case none
    /// The path is known, the method is not.
    case wrongMethod

    init(_ call: SimulatedCall) {
        switch (call.method, call.path) {
        case ("POST", "/v1/oauth2/token"), ("POST", "/v1/identity/openidconnect/tokenservice"):
            self = .token(.paypal, call.form)
        case ("GET", "/v1/identity/openidconnect/userinfo/"), ("GET", "/v1/identity/openidconnect/userinfo"):
            self = call.query["schema"] == "openid" ? .userinfo(.paypal, .openid) : .none
        case ("GET", "/v1/identity/oauth2/userinfo"):
            self = call.query["schema"] == "paypalv1.1" ? .userinfo(.paypal, .paypal) : .none
        case ("POST", "/v1/oauth2/token/terminate"), ("POST", "/v1/identity/openidconnect/revoke"):
            self = .revoke(.paypal, call.form)
        case ("POST", "/token"): self = .token(.standard, call.form)
        case ("GET", "/userinfo"), ("POST", "/userinfo"): self = .userinfo(.standard, .standard)
        case ("POST", "/revoke"): self = .revoke(.standard, call.form)
        case ("GET", "/.well-known/openid-configuration"): self = .discovery
        case ("GET", "/jwks"): self = .keys
        case ("GET", "/authorize"), ("GET", "/signin/authorize"): self = .authorize
        case ("POST", "/simulator/codes"): self = .issueCode
        case ("GET", "/simulator/log"): self = .log
        case ("POST", "/simulator/faults"): self = .setFault
        case ("GET", "/simulator/faults"): self = .listFaults
        case ("POST", "/simulator/keys"): self = .rotateKeys
        default: self = Self.paths.contains(call.path) ? .wrongMethod : .none
        }
    }

    private static let paths: Set<Substring> = [
        "/v1/oauth2/token", "/v1/identity/openidconnect/tokenservice", "/v1/identity/openidconnect/userinfo/",
        "/v1/identity/openidconnect/userinfo", "/v1/identity/oauth2/userinfo", "/v1/oauth2/token/terminate",
        "/v1/identity/openidconnect/revoke", "/token", "/userinfo", "/revoke", "/.well-known/openid-configuration",
        "/jwks", "/authorize", "/signin/authorize", "/simulator/codes", "/simulator/log", "/simulator/faults",
        "/simulator/keys",
    ]

    var endpoint: Endpoint {
        switch self {
        case .token(_, let form):
            switch form["grant_type"] {
            case "authorization_code": .exchange
            case "refresh_token": .refresh
            default: .token
            }
        case .userinfo: .userinfo
        case .revoke: .revoke
        case .discovery: .discovery
        case .keys: .keys
        case .authorize: .authorize
        case .issueCode, .log, .setFault, .listFaults, .rotateKeys: .simulator
        case .none, .wrongMethod: .unknown
        }
    }

    /// What a fault calls this place; nil where none strikes.
    var place: FaultPlace? {
        switch endpoint {
        case .exchange: .exchange
        case .refresh: .refresh
        case .userinfo: .userinfo
        case .revoke: .revoke
        case .discovery: .discovery
        case .keys: .keys
        case .authorize: .authorize
        case .token, .simulator, .unknown: nil
        }
    }
}
