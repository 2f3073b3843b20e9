// SPDX-License-Identifier: Apache-2.0

/// What a profile fills in where the configuration says nothing.
package struct ProfilePresets: Sendable {
    /// Environments in the order of the file; empty: the provider has none.
    package var environments: [EnvironmentPreset]
    /// Of a provider that is in one place.
    package var issuer: String?
    /// With `{api_url}` in place of the API's address.
    package var endpoints: ProviderEndpoints
    /// Name of a userinfo schema → endpoint with `{api_url}`; the first is the default.
    package var userinfoSchemas: [NamedText]
    package var authentication: ProviderClientSettings.Authentication
    package var basicEncoding: ProviderClientSettings.BasicEncoding
    package var pkce: ProviderSettings.PKCE
    package var nonce: ProviderSettings.Nonce
    package var idToken: ProviderSettings.IDToken
    /// Nil: what every provider has.
    package var idTokenAlgorithms: [String]?
    /// What belongs into the request for a code, such as what brings a refresh token.
    package var authorizationParameters: [NamedText]
    /// The scope without which there is no refresh token; nil where it is not a scope that decides.
    package var refreshTokenScope: String?
    package var refreshTokenReuse: RefreshTokenReuse
    package var idleLife: Duration?
    package var defaultLifetime: Duration?
    package var revocationScope: ProviderSettings.RevocationScope

    /// What is different in one environment.
    package struct EnvironmentPreset: Sendable, Equatable {
        package var environment: ProviderSettings.Environment
        /// Nil: the configuration must give `api_url`.
        package var apiURL: String?
        package var authorization: String?
    }
}

/// A provider's profile: what is known of how it behaves, as data (`Config/providers/NAME.yaml`, refresh.md).
package struct ProfileSettings: Sendable {
    package var name: String
    /// One line for `provider list`.
    package var title: String
    /// What a preset fills in; all nil or empty where the configuration must say it.
    package var presets: ProfilePresets
    /// Parameters that are sent with a code from the provider's phone SDK, beside `grant_type` and `code`;
    /// empty where the provider has no such SDK. `redirect_uri` among them is this provider's constant.
    package var sdkCodeParameters: [NamedText]
    /// Parameters that are sent with a browser's code, beside `grant_type`, `code` and the caller's `redirect_uri`.
    package var browserCodeParameters: [NamedText]
    /// How long a code lives; nil: not known.
    package var codeLifetime: Duration?
    /// What a refused code exchange means; the first rule that fits holds, what none fits means what refresh.md says.
    package var codeErrors: [ErrorRule]
    /// What a refused refresh means; likewise.
    package var refreshErrors: [ErrorRule]
    /// Whether the provider answers a wrong client secret as it answers a dead refresh token. Then a grant is called dead
    /// only once a code that cannot be valid has shown that the secret is taken.
    package var isDeathConfirmed: Bool
    /// Member names of the provider's correlation id in answers, and header names, in the order they are looked for.
    package var correlationMembers: [String]
    package var correlationHeaders: [String]
    package var lifetimeUnit: LifetimeUnit
    /// Members of a token answer that do not stand at the top under their own name: name → JSON pointer (RFC 6901).
    package var tokenMembers: [NamedText]
    /// What stands between two scopes in a *request*.
    package var scopeSeparator: String
    /// Claims of the userinfo answer: what the gateway calls them, and where they stand.
    package var claims: [ClaimRule]
    /// Scope → claims that it covers, for what OpenID Connect does not define.
    package var scopeClaims: [ScopeClaims]
    /// Whether ID tokens may be signed HS256 with the client secret.
    package var allowsHS256: Bool
    /// How long a code is reserved, per subject, under `environment: mock`, where the provider's SDK hands out one
    /// constant code for ever; nil: as everywhere.
    package var mockCodeReservation: Duration?
    /// Recorded example answers (synthetic), each with what it must be read as.
    package var examples: [AnswerExample]

    package enum LifetimeUnit: String, Sendable, CaseIterable { case seconds, milliseconds }

    /// What a refused call means (refresh.md, *What an outcome means*).
    package enum ErrorClass: String, Sendable, CaseIterable {
        /// The grant (or code) is gone: `reauthorization_required`, `code_rejected`.
        case grantDead = "grant_dead"
        /// Our client credentials are refused: the provider entry is paused.
        case credentials
        /// The request as such is refused: backoff, the operator's.
        case request
        /// Too many calls: a gate for the whole provider.
        case throttled
        /// The provider has not processed it: backoff, may be sent again.
        case notProcessed = "not_processed"
        /// Nobody knows whether it was processed.
        case unknown
    }

    /// One line of an error map. All that is given must fit; what is nil or empty fits anything.
    package struct ErrorRule: Sendable, Equatable {
        /// HTTP status codes.
        package var statuses: [Int]
        /// Values of the member `error` (or `name`), compared without regard to case.
        package var errors: [String]
        /// A part of `error_description` (or `message`), compared without regard to ASCII case.
        package var descriptionContains: String?
        /// Whether the body must be empty.
        package var needsEmptyBody: Bool
        package var errorClass: ErrorClass
    }

    /// Where one claim of the normal form stands in the provider's answer.
    package struct ClaimRule: Sendable, Equatable {
        package enum Form: String, Sendable, CaseIterable {
            case text
            /// `true`, `false`, or the same as text.
            case boolean
            /// An object of the OpenID address members, or a text (then `formatted`).
            case address
            /// A whole number, or the same as text.
            case number
        }

        /// Name in the normal form, such as `sub`.
        package var claim: String
        /// Members in the order they are looked for: `user_id`, `name.given`, `emails[primary].value`.
        package var from: [String]
        package var form: Form
    }

    /// Claims that one scope covers.
    package struct ScopeClaims: Sendable, Equatable {
        package var scope: String
        package var claims: [String]
    }

    /// One recorded answer, and what it must be read as.
    package struct AnswerExample: Sendable, Equatable {
        package enum Call: String, Sendable, CaseIterable { case code, refresh, userinfo }

        package var title: String
        package var call: Call
        package var status: Int
        /// Header fields that matter, such as `Retry-After`.
        package var headers: [NamedText]
        package var contentType: String
        package var body: String
        /// An ``ErrorClass``'s raw value, or `success`, or `unreadable`.
        package var expected: String
        /// For `success` of userinfo: claims of the normal form, as text.
        package var expectedClaims: [NamedText]
        /// For `success` of the others: members of the token answer as they must be read, `expires_in` in seconds,
        /// scopes with blanks between them.
        package var expectedTokens: [NamedText]
    }
}
