// SPDX-License-Identifier: Apache-2.0
package import Consents
package import NativeCurl
package import NativeJSON

/// Where a provider's endpoints are, where its issuer is asked for some of them.
package struct ProviderPlaces: Sendable {
    package enum Endpoint: Sendable { case token, userinfo, revocation }

    package enum Place: Sendable {
        /// As written; of a URL that the provider told, only such addresses are dialled.
        case at(String, AddressPolicy)
        /// The provider has none.
        case none
        /// The issuer cannot be asked now.
        case unavailable
    }

    let find: @Sendable (Endpoint) async -> Place

    /// - Parameter find: what is configured, else what the issuer tells.
    package init(_ find: @escaping @Sendable (Endpoint) async -> Place) { self.find = find }
}

/// How answers of a provider that names its issuer are told to be genuine.
package struct ProviderTrust: Sendable {
    /// What verifies its ID tokens; nil where they are not looked at.
    package var identity: (any IdentityCheck)?
    /// Nil where every endpoint is configured.
    package var places: ProviderPlaces?
    /// What verifies signed userinfo answers; nil where nothing does, and none is trusted.
    package var signedProfiles: (@Sendable (_ token: String) async -> SignedProfile)?
    /// Whose authorization responses are taken.
    package var issuer: @Sendable () async -> AnsweringIssuer

    package init(
        identity: (any IdentityCheck)?, places: ProviderPlaces?,
        signedProfiles: (@Sendable (_ token: String) async -> SignedProfile)?,
        issuer: @escaping @Sendable () async -> AnsweringIssuer
    ) {
        self.identity = identity
        self.places = places
        self.signedProfiles = signedProfiles
        self.issuer = issuer
    }

    /// Of a provider without an issuer.
    package static let none = ProviderTrust(identity: nil, places: nil, signedProfiles: nil) { .notConfigured }
}

/// What became of a signed userinfo answer (OpenID Connect Core, section 5.3.2).
package enum SignedProfile: Sendable {
    /// The claims of a genuine one.
    case claims(JSONValue)
    /// Why it is not trusted, without anything of it.
    case untrusted(String)
    /// The keys cannot be had now.
    case unavailable
}
