// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeJSON

/// What an issuer tells of itself (OpenID Connect Discovery, section 3; RFC 8414, section 2).
///
/// Lists are nil where they are not told, which does not always mean that nothing is supported: the defaults of the
/// specifications stand in the computed properties.
package struct ProviderMetadata: Sendable {
    package static let longest = 256 << 10

    /// As it stands there: ID tokens are compared with it byte for byte.
    package let issuer: String
    /// By their names in the document; those that are not taken stand in `refused`.
    package let endpoints: [Endpoint: ProviderURL]
    /// Why a URL that stands there is not taken.
    package let refused: [Endpoint: EndpointFault]
    /// Where clients with a certificate ask instead; what cannot be taken is left out.
    let certificateEndpoints: [Endpoint: ProviderURL]
    /// By their names in the document, 100 texts of 200 bytes at most.
    private let lists: [List: [String]]
    /// Whether answers of the authorization endpoint name the issuer (RFC 9207).
    package let namesIssuerInAnswers: Bool

    package enum Endpoint: String, Sendable, CaseIterable {
        case authorization = "authorization_endpoint"
        case token = "token_endpoint"
        case userinfo = "userinfo_endpoint"
        case keys = "jwks_uri"
        case revocation = "revocation_endpoint"
        case introspection = "introspection_endpoint"
        case endSession = "end_session_endpoint"
    }

    package enum List: String, Sendable, CaseIterable {
        case scopes = "scopes_supported"
        case claims = "claims_supported"
        case responseTypes = "response_types_supported"
        case responseModes = "response_modes_supported"
        case grantTypes = "grant_types_supported"
        case subjectTypes = "subject_types_supported"
        case idTokenAlgorithms = "id_token_signing_alg_values_supported"
        case userinfoAlgorithms = "userinfo_signing_alg_values_supported"
        case authenticationMethods = "token_endpoint_auth_methods_supported"
        case authenticationAlgorithms = "token_endpoint_auth_signing_alg_values_supported"
        case challengeMethods = "code_challenge_methods_supported"
    }

    /// Where a client asks; one that shows a certificate has places of its own, where they are told (RFC 8705, section
    /// 5).
    package func place(_ endpoint: Endpoint, showingCertificate: Bool) -> ProviderURL? {
        (showingCertificate ? certificateEndpoints[endpoint] : nil) ?? endpoints[endpoint]
    }

    /// As told; nil where it is not.
    package func told(_ list: List) -> [String]? { lists[list] }

    /// How clients may show who they are; HTTP Basic where nothing is told (Discovery, section 3).
    package var authenticationMethods: [String] { told(.authenticationMethods) ?? ["client_secret_basic"] }
    /// RS256 must be among them by the specification; some leave the list out.
    package var idTokenAlgorithms: [String] { told(.idTokenAlgorithms) ?? ["RS256"] }
    package var grantTypes: [String] { told(.grantTypes) ?? ["authorization_code", "implicit"] }
    /// Whether PKCE with S256 is told.
    package var hasS256: Bool { told(.challengeMethods)?.contains("S256") ?? false }

    /// The metadata of a document.
    ///
    /// - Parameters:
    ///   - issuer: the configured one.
    ///   - rule: made with the configured issuer.
    /// - Throws: ``MetadataFault``. A URL or list that cannot be taken costs only itself.
    package init(document: [UInt8], of issuer: String, _ rule: EndpointRule) throws(MetadataFault) {
        guard document.count <= Self.longest else { throw .tooLong }
        let json: JSONValue
        do throws(JSONError) { json = try JSONValue.parse(document, as: .providers) } catch { throw .notJSON }
        guard json.kind == .object else { throw .notJSON }
        guard let found = json["issuer"]?.string, found.utf8.count <= 2048 else { throw .noIssuer }
        guard isIssuer(issuer, found) else {
            let scrubber = Scrubber([])
            throw .issuer(configured: scrubber.clean(issuer), found: scrubber.clean(found))
        }
        self.issuer = found
        (endpoints, refused) = Self.endpoints(in: json, rule)
        certificateEndpoints = json["mtls_endpoint_aliases"].map { Self.endpoints(in: $0, rule).taken } ?? [:]
        var lists: [List: [String]] = [:]
        for list in List.allCases {
            lists[list] = json[list.rawValue]?.array?.prefix(100).compactMap { $0.string }
                .filter { $0.utf8.count <= 200 }
        }
        self.lists = lists
        namesIssuerInAnswers = json["authorization_response_iss_parameter_supported"]?.boolean ?? false
    }

    private static func endpoints(
        in json: JSONValue, _ rule: EndpointRule
    ) -> (taken: [Endpoint: ProviderURL], refused: [Endpoint: EndpointFault]) {
        var taken: [Endpoint: ProviderURL] = [:]
        var refused: [Endpoint: EndpointFault] = [:]
        for endpoint in Endpoint.allCases {
            guard let url = json[endpoint.rawValue]?.string, !url.isEmpty else { continue }
            do throws(EndpointFault) { taken[endpoint] = try rule.check(url) } catch { refused[endpoint] = error }
        }
        return (taken, refused)
    }
}

/// Why a document is not the metadata of the configured issuer.
package enum MetadataFault: Error, Sendable, Equatable, CustomStringConvertible {
    case tooLong
    case notJSON
    case noIssuer
    /// Both without control characters, 200 characters at most.
    case issuer(configured: String, found: String)

    package var description: String {
        switch self {
        case .tooLong: "the provider's metadata are longer than 256 KiB"
        case .notJSON: "the provider's metadata are no JSON object"
        case .noIssuer: "the provider's metadata name no issuer"
        case .issuer(let configured, let found): "the provider calls itself \(found) and not \(configured)"
        }
    }
}
