// SPDX-License-Identifier: Apache-2.0
package import Consents
package import NativeCurl

/// Everything that one connection to a provider needs, checked by whoever makes it.
package struct ProviderDefinition: Sendable {
    /// The token endpoint and the client id stand in `facts.issuer`, the time-outs in `facts.timeouts`.
    package var facts: ProviderFacts
    /// Sent as written, path and query untouched: PayPal's ends in `/?schema=openid`. Nil where there is none.
    package var userinfoEndpoint: String?
    /// Where tokens are revoked (RFC 7009), sent as written; nil where the provider has no such place.
    package var revocationEndpoint: String?
    /// In the order in which they are tried; several while a secret is being changed, and never none.
    package var authentications: [ClientAuthentication]
    package var codeParameters: CodeParameters
    package var answers: AnswerRules
    /// In order; of two rules for one claim the first that finds a value counts.
    package var claims: [ClaimRule]
    package var transport: ProviderTransport

    package init(
        facts: ProviderFacts, userinfoEndpoint: String?, revocationEndpoint: String?,
        authentications: [ClientAuthentication], codeParameters: CodeParameters, answers: AnswerRules,
        claims: [ClaimRule], transport: ProviderTransport
    ) {
        self.facts = facts
        self.userinfoEndpoint = userinfoEndpoint
        self.revocationEndpoint = revocationEndpoint
        self.authentications = authentications
        self.codeParameters = codeParameters
        self.answers = answers
        self.claims = claims
        self.transport = transport
    }
}

/// How the client shows who it is (RFC 6749, section 2.3.1): one way, never two in one request, never probed.
package enum ClientAuthentication: Sendable {
    /// HTTP Basic.
    case basic(secret: SecretText, encoding: BasicEncoding)
    /// `client_id` and `client_secret` in the body.
    case post(secret: SecretText)
    /// A signed assertion, made anew for each request (`private_key_jwt`; RFC 7523, section 2.2).
    case assertion(AssertionMaker)
    /// The certificate of the TLS connection (`tls_client_auth`; RFC 8705, section 2): `client_id` in the body.
    case certificate
    /// A public client: `client_id` in the body.
    case none

    /// Makes an assertion for that token endpoint, with an identifier that no other one has.
    package typealias AssertionMaker = @Sendable (_ tokenEndpoint: String) -> SecretText
}

/// What is done to id and secret before they are joined for HTTP Basic.
package enum BasicEncoding: Sendable {
    /// Both form-encoded, as RFC 6749 has it.
    case rfc6749
    /// Both as they are, as some providers have it.
    case raw
}

/// Parameters that go with a code beside `grant_type` and `code`, in their order.
package struct CodeParameters: Sendable {
    /// With the code of the provider's phone SDK. `redirect_uri` among them is the provider's constant.
    package var sdk: [RequestParameter]
    /// With any other code; `redirect_uri` and `code_verifier` are the caller's and do not stand here.
    package var browser: [RequestParameter]

    package init(sdk: [RequestParameter], browser: [RequestParameter]) {
        self.sdk = sdk
        self.browser = browser
    }
}

/// A constant of a token request.
package struct RequestParameter: Sendable, Equatable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// How connections to the provider are made.
package struct ProviderTransport: Sendable {
    package var http2: Bool
    /// A PEM file of authorities beside the system's.
    package var caFile: String?
    /// A URL that may hold a password; nil for none.
    package var proxy: SecretText?
    /// Host suffixes that are called without the proxy.
    package var noProxy: [String]
    /// Shown where the provider asks for a certificate; nil for none.
    package var identity: CurlClientIdentity?

    package init(
        http2: Bool, caFile: String?, proxy: SecretText?, noProxy: [String], identity: CurlClientIdentity? = nil
    ) {
        self.http2 = http2
        self.caFile = caFile
        self.proxy = proxy
        self.noProxy = noProxy
        self.identity = identity
    }

    /// What a client for this provider is made with; providers with the same may share one client a loop.
    package var curlConfiguration: CurlConfiguration {
        CurlConfiguration(proxy: proxy?.reveal(), noProxy: noProxy, caFile: caFile, identity: identity)
    }
}
