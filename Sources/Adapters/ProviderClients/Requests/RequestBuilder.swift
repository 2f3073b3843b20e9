// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCrypto

/// Builds the requests to one provider. Pure: the same values give the same bytes.
///
/// A class because it holds a whole definition, of which each call would otherwise get a copy.
final class RequestBuilder: Sendable {
    let definition: ProviderDefinition
    private let authentication: ClientAuthentication
    /// For HTTP Basic, made once: the credentials, and the header fields that show them.
    private let credentials: SecretText?
    private let headers: [(name: String, value: String)]

    init(_ definition: ProviderDefinition, _ authentication: ClientAuthentication) {
        self.definition = definition
        self.authentication = authentication
        var headers = RequestBuilder.commonHeaders
        if case .basic(let secret, let encoding) = authentication {
            let basic = RequestBuilder.basicCredentials(definition.facts.issuer.clientID, secret, encoding)
            headers.append(("Authorization", "Basic " + basic.reveal()))
            credentials = basic
        } else {
            credentials = nil
        }
        self.headers = headers
    }

    /// RFC 6749, section 4.1.3; an SDK's code goes with the SDK's own parameters, whatever the caller gave.
    /// - Parameter endpoint: the token endpoint, configured or discovered.
    func exchange(_ code: SecretText, _ parameters: ExchangeParameters, at endpoint: String) -> ProviderRequest {
        var form = FormBody()
        var secrets: [SecretText] = []
        secrets.reserveCapacity(RequestBuilder.mostSecrets)
        secrets.append(code)
        form.append("grant_type", "authorization_code")
        let constants = definition.codeParameters
        for constant in parameters.isSDKCode ? constants.sdk : constants.browser {
            form.append(constant.name, constant.value)
        }
        form.append("code", code.reveal())
        if !parameters.isSDKCode {
            if let redirectURI = parameters.redirectURI ?? definition.facts.redirectURI {
                form.append("redirect_uri", redirectURI)
                secrets.append(SecretText(redirectURI))
            }
            if let verifier = parameters.codeVerifier {
                form.append("code_verifier", verifier.reveal())
                secrets.append(verifier)
            }
        }
        return authenticated(form, secrets, at: endpoint, tokenEndpoint: endpoint)
    }

    /// RFC 6749, section 6, without `scope`: what was granted is what is wanted.
    func refresh(_ refreshToken: SecretText, at endpoint: String) -> ProviderRequest {
        var form = FormBody()
        form.append("grant_type", "refresh_token")
        form.append("refresh_token", refreshToken.reveal())
        return authenticated(form, [refreshToken], at: endpoint, tokenEndpoint: endpoint)
    }

    /// RFC 7009, section 2.1.
    func revocation(
        _ token: SecretText, _ kind: TokenKind, at endpoint: String, tokenEndpoint: String
    ) -> ProviderRequest {
        var form = FormBody()
        form.append("token", token.reveal())
        form.append("token_type_hint", kind.rawValue)
        return authenticated(form, [token], at: endpoint, tokenEndpoint: tokenEndpoint)
    }

    /// OpenID Connect Core, section 5.3.1, with the token in the header (RFC 6750, section 2.1).
    /// - Returns: nil where the provider has no userinfo endpoint.
    func userinfo(_ accessToken: SecretText) -> ProviderRequest? {
        definition.userinfoEndpoint.map { userinfo(accessToken, at: $0) }
    }

    func userinfo(_ accessToken: SecretText, at endpoint: String) -> ProviderRequest {
        var headers = RequestBuilder.commonHeaders
        headers.append(("Authorization", "Bearer " + accessToken.reveal()))
        return ProviderRequest(url: endpoint, headers: headers, form: nil, sent: [accessToken])
    }

    /// A form together with what shows who the client is.
    private func authenticated(
        _ body: FormBody, _ values: consuming [SecretText], at url: String, tokenEndpoint: String
    ) -> ProviderRequest {
        let clientID = definition.facts.issuer.clientID
        var form = body
        var sent = consume values
        var isOneTime = false
        switch authentication {
        case .basic(let secret, _):
            if let credentials { sent.append(credentials) }
            sent.append(secret)
        case .post(let secret):
            form.append("client_id", clientID)
            form.append("client_secret", secret.reveal())
            sent.append(secret)
        case .assertion(let make):
            let assertion = make(tokenEndpoint)
            // Optional beside an assertion (RFC 7521, section 4.2); some providers look for the client by it.
            form.append("client_id", clientID)
            form.append("client_assertion_type", RequestBuilder.assertionType)
            form.append("client_assertion", assertion.reveal())
            sent.append(assertion)
            isOneTime = true
        case .certificate, .none:
            form.append("client_id", clientID)
        }
        sent.append(SecretText(clientID))
        return ProviderRequest(url: url, headers: headers, form: form.bytes, sent: sent, isOneTime: isOneTime)
    }

    /// The credentials of HTTP Basic (RFC 7617; RFC 6749, section 2.3.1, for the encoding).
    static func basicCredentials(_ clientID: String, _ secret: SecretText, _ encoding: BasicEncoding) -> SecretText {
        let parts = [clientID, secret.reveal()].map { part in
            switch encoding {
            case .rfc6749: FormEncoding.encode(part)
            case .raw: Array(part.utf8)
            }
        }
        return SecretText(Base64.standard.text(of: Array(parts.joined(separator: [0x3A]))))
    }

    /// The code, its redirect URI and verifier; credentials, secret and name of the client.
    private static let mostSecrets = 6

    /// RFC 7523, section 2.2.
    private static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    private static let commonHeaders = [
        (name: "Accept", value: "application/json"), (name: "User-Agent", value: "consent-gateway"),
    ]
}

/// A form-encoded body while it is written.
private struct FormBody {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(512) }

    mutating func append(_ name: String, _ value: String) {
        if !bytes.isEmpty { bytes.append(0x26) }
        FormEncoding.append(name, to: &bytes)
        bytes.append(0x3D)
        FormEncoding.append(value, to: &bytes)
    }
}
