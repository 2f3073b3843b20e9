// SPDX-License-Identifier: Apache-2.0

/// One entry of `providers`, its preset's facts filled in.
package struct ProviderSettings: Sendable {
    package var name: String
    /// Name of the preset; nil for a provider that is configured by its endpoints.
    package var preset: String?
    /// Nil without a preset.
    package var environment: Environment?
    package var issuer: String?
    package var endpoints: ProviderEndpoints
    package var client: ProviderClientSettings
    /// The scopes asked for; `scopes.requested` of a record.
    package var scopes: [String]
    package var authorizationParameters: [NamedText]
    package var pkce: PKCE
    package var nonce: Nonce
    package var idToken: IDToken
    package var idTokenAlgorithms: [String]
    package var trustedAudiences: [String]
    /// Sent with codes whose caller gives none. For the preset `paypal` nil: an SDK's code has its own.
    package var redirectURI: String?
    /// Those that a caller may give; compared byte for byte.
    package var redirectURIs: [String]
    /// Whether `…/access-token` hands tokens out.
    package var handsOutAccessTokens: Bool
    package var refresh: RefreshPolicySettings
    package var refreshTokenReuse: RefreshTokenReuse
    /// The provider ends an unused refresh token after this.
    package var idleLife: Duration?
    /// Of an access token where the provider tells none.
    package var defaultLifetime: Duration?
    package var revocationScope: RevocationScope
    /// Age at which a kept profile is fetched again.
    package var profileMaxAge: Duration
    /// Nil where it is not looked for: by default of a provider whose ID tokens are ignored.
    package var onSharedSubject: OnSharedSubject?
    package var timeouts: ProviderTimeouts
    /// Calls in a time, per process; nil is none.
    package var rateLimit: Rate?
    package var connection: ProviderConnectionSettings
    /// How this provider's answers are read: its preset's facts, else those of `generic`.
    package var profile: ProfileSettings

    package enum Environment: String, Sendable, CaseIterable { case live, sandbox, mock }
    package enum PKCE: String, Sendable, CaseIterable { case required, optional, unsupported }
    package enum Nonce: String, Sendable, CaseIterable { case optional, required }
    package enum IDToken: String, Sendable, CaseIterable { case required, optional, ignored }
    package enum RevocationScope: String, Sendable, CaseIterable { case token, grant }
    package enum OnSharedSubject: String, Sendable, CaseIterable { case warn, refuse }
}

/// What a provider does when a refresh token comes back that it has replaced.
package enum RefreshTokenReuse: Sendable, Equatable {
    /// It may revoke the whole family of tokens.
    case forbidden
    /// It never replaces one.
    case `static`
    /// The old one is taken for so long.
    case grace(Duration)
}

/// `providers.*.refresh`.
package struct RefreshPolicySettings: Sendable, Equatable {
    package enum Policy: String, Sendable, CaseIterable {
        case keepFresh = "keep_fresh"
        case keepAlive = "keep_alive"
        case onDemand = "on_demand"
    }

    package var policy: Policy
    /// Between two refreshes under `keep_alive`.
    package var interval: Duration
}

/// URLs of a provider, as far as they are configured; the others come from discovery of `issuer`. Each is https, or
/// http on loopback.
package struct ProviderEndpoints: Sendable, Equatable {
    /// Always there for a provider without `issuer`.
    package var token: String?
    package var authorization: String?
    /// Sent as written: path and query untouched.
    package var userinfo: String?
    package var jwks: String?
    package var revocation: String?
}

/// Who the gateway is to a provider, and how it shows that.
package struct ProviderClientSettings: Sendable {
    package enum Authentication: String, Sendable, CaseIterable {
        case basic = "client_secret_basic"
        case post = "client_secret_post"
        case privateKeyJWT = "private_key_jwt"
        case tls = "tls_client_auth"
        case none
    }

    package enum BasicEncoding: String, Sendable, CaseIterable {
        /// Both parts form-encoded before base64 (RFC 6749, section 2.3.1).
        case rfc6749
        /// Both parts as they are.
        case raw
    }

    /// What a client's assertion is signed with.
    package enum SigningAlgorithm: String, Sendable, CaseIterable {
        case rs256 = "RS256"
        case ps256 = "PS256"
        case es256 = "ES256"
    }

    /// What a client's assertion names as its audience.
    package enum AssertionAudience: String, Sendable, CaseIterable {
        /// As OpenID Connect Core, section 9, has it, and as most providers want it.
        case tokenEndpoint = "token_endpoint"
        /// As FAPI 2.0 and the revision of RFC 7523 have it.
        case issuer
    }

    package var id: String
    /// In the order in which they are tried; empty where the method needs none.
    package var secrets: [SettingsSecret]
    package var authentication: Authentication
    package var basicEncoding: BasicEncoding
    /// In PEM. Of the assertions, the newest first, which signs; or of the certificate, whose own file may hold it too.
    package var privateKeys: [SettingsSecret]
    package var certificatePath: String?
    /// Nil: RS256 or ES256, as the key is.
    package var signingAlgorithm: SigningAlgorithm?
    package var assertionAudience: AssertionAudience
}

/// `providers.*.timeouts`.
package struct ProviderTimeouts: Sendable, Equatable {
    package var connect: Duration
    /// How long a caller waits, and every harmless call takes at most.
    package var total: Duration
    /// How long the answer to a spent code or refresh token is listened for.
    package var answer: Duration
}

/// How connections to a provider are made.
package struct ProviderConnectionSettings: Sendable {
    package var http2: Bool
    /// PEM file of authorities beside the system's.
    package var caFile: String?
    /// Nil: no proxy. May hold a password, therefore a secret. From the file, else from `https_proxy` and the like.
    package var proxy: SettingsSecret?
    /// Host suffixes and networks that are called without the proxy; from the file, else from `no_proxy`.
    package var noProxy: [String]
    /// Private hosts that discovery may point to.
    package var allowHosts: [String]
}

/// A name and a text, in the order of the file.
package struct NamedText: Sendable, Equatable {
    package var name: String
    package var text: String

    package init(name: String, text: String) {
        self.name = name
        self.text = text
    }
}
