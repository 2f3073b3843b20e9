// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeSystem
import Testing

@testable import ProviderClients

@Suite("Requests")
struct RequestBuilderTests {
    private let sdk = ExchangeParameters(
        isSDKCode: true, redirectURI: "https://caller.test/", codeVerifier: SecretText("V"))

    @Test("a PayPal SDK's code goes with the SDK's parameters and nothing of the caller's")
    func sdkCode() {
        let request = RequestBuilder(Definitions.payPal()).exchange(SecretText("EBYh_-C"), sdk)
        #expect(
            text(request) == """
                https://api-m.sandbox.paypal.com/v1/oauth2/token
                Accept: application/json
                User-Agent: consent-gateway
                Authorization: Basic SUQ6U0VDUkVU

                grant_type=authorization_code&response_type=token&redirect_uri=urn%3Aietf%3Awg%3Aoauth%3A2.0%3Aoob\
                &code=EBYh_-C
                """)
    }

    @Test("a browser's code goes with the caller's redirect URI and verifier, byte for byte")
    func browserCode() {
        let definition = Definitions.generic(.post(secret: SecretText("s+1")), redirectURI: "https://other.test/")
        let request = RequestBuilder(definition).exchange(
            SecretText("4%2F0AX"),
            ExchangeParameters(isSDKCode: false, redirectURI: "com.app:/cb/", codeVerifier: SecretText("v~1")))
        #expect(
            text(request) == """
                https://login.acme.test/token
                Accept: application/json
                User-Agent: consent-gateway

                grant_type=authorization_code&code=4%252F0AX&redirect_uri=com.app%3A%2Fcb%2F&code_verifier=v%7E1\
                &client_id=ID&client_secret=s%2B1
                """)
    }

    @Test("a code without a redirect URI of its caller's goes with the configured one")
    func configuredRedirectURI() {
        let definition = Definitions.generic(.none, redirectURI: "https://shop.test/cb")
        let request = RequestBuilder(definition).exchange(
            SecretText("c"), ExchangeParameters(isSDKCode: false, redirectURI: nil, codeVerifier: nil))
        #expect(
            body(request)
                == "grant_type=authorization_code&code=c&redirect_uri=https%3A%2F%2Fshop.test%2Fcb&client_id=ID")
        #expect(!request.headers.contains { $0.name == "Authorization" })
    }

    @Test("an assertion is made anew for each request, stands alone, and nothing of it comes back in a text")
    func assertions() {
        let count = Locked(0)
        let maker: ClientAuthentication.AssertionMaker = { _ in
            SecretText(
                count.withLock {
                    $0 += 1
                    return "assertion-\($0)"
                })
        }
        let builder = RequestBuilder(Definitions.generic(.assertion(maker)))
        let requests = [
            builder.refresh(SecretText("R")), builder.refresh(SecretText("R")),
            builder.exchange(
                SecretText("c"), ExchangeParameters(isSDKCode: false, redirectURI: nil, codeVerifier: nil)),
        ]
        for (index, request) in requests.enumerated() {
            #expect(body(request).hasSuffix("&client_assertion=assertion-\(index + 1)"))
            #expect(!body(request).contains("client_secret"))
            #expect(!request.headers.contains { $0.name == "Authorization" })
            #expect(request.sent.contains { $0.reveal() == "assertion-\(index + 1)" })
            #expect(request.isOneTime)
        }
    }

    @Test("a refresh sends its token and no scope")
    func refresh() {
        let request = RequestBuilder(Definitions.payPal()).refresh(SecretText("R 1"))
        #expect(body(request) == "grant_type=refresh_token&refresh_token=R+1")
        #expect(request.headers.filter { $0.name == "Authorization" }.count == 1)
    }

    @Test(
        "a revocation names its token and its kind, with the client's own authentication",
        arguments: [
            (
                ClientAuthentication.basic(secret: SecretText("SECRET"), encoding: .rfc6749),
                "Authorization: Basic SUQ6U0VDUkVU\n", ""
            ),
            (.post(secret: SecretText("s+1")), "", "&client_id=ID&client_secret=s%2B1"),
            (.none, "", "&client_id=ID"), (.certificate, "", "&client_id=ID"),
            (
                .assertion { SecretText("for \($0)") }, "",
                "&client_id=ID&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer"
                    + "&client_assertion=for+https%3A%2F%2Flogin.acme.test%2Ftoken"
            ),
        ])
    func revocation(authentication: ClientAuthentication, header: String, credentials: String) throws {
        let definition = Definitions.generic(authentication, revocationEndpoint: "https://login.acme.test/revoke?v=1")
        for kind in TokenKind.allCases {
            let request = try #require(RequestBuilder(definition).revocation(SecretText("R/1+ ="), kind))
            #expect(
                text(request) == """
                    https://login.acme.test/revoke?v=1
                    Accept: application/json
                    User-Agent: consent-gateway
                    \(header)
                    token=R%2F1%2B+%3D&token_type_hint=\(kind.rawValue)\(credentials)
                    """)
            #expect(request.sent.contains(SecretText("R/1+ =")))
        }
    }

    @Test("userinfo is asked with a bearer token at the URL as it is written")
    func userinfo() {
        let builder = RequestBuilder(Definitions.payPal())
        #expect(
            builder.userinfo(SecretText("A1")).map(text) == """
                https://api-m.sandbox.paypal.com/v1/identity/openidconnect/userinfo/?schema=openid
                Accept: application/json
                User-Agent: consent-gateway
                Authorization: Bearer A1
                """)
        #expect(RequestBuilder(Definitions.generic(.none)).userinfo(SecretText("A1")) == nil)
    }

    @Test(
        "Basic credentials are encoded as RFC 6749 has it, or left raw",
        arguments: [
            ("1PpG/Q 1", "z/t+Z:=", BasicEncoding.rfc6749, "MVBwRyUyRlErMTp6JTJGdCUyQlolM0ElM0Q="),
            ("id", "secret==", .raw, "aWQ6c2VjcmV0PT0="), ("id", "secret==", .rfc6749, "aWQ6c2VjcmV0JTNEJTNE"),
        ])
    func basic(clientID: String, secret: String, encoding: BasicEncoding, credentials: String) {
        #expect(
            RequestBuilder.basicCredentials(clientID, SecretText(secret), encoding) == SecretText(credentials))
    }

    @Test("a request prints nothing of what it carries, and names what it sent")
    func harmless() {
        let request = RequestBuilder(Definitions.payPal()).refresh(SecretText("R1"))
        #expect("\(request) \(String(reflecting: request))" == "a request to a provider a request to a provider")
        var dumped = ""
        dump(request, to: &dumped)
        #expect(!dumped.contains("SECRET") && !dumped.contains("R1") && !dumped.contains("SUQ6"))
        #expect(Set(request.sent) == Set(["R1", "SECRET", "SUQ6U0VDUkVU", "ID"].map(SecretText.init)))
    }

    private func text(_ request: ProviderRequest) -> String {
        let head = request.headers.map { "\($0.name): \($0.value)" }
        let form = request.form.map { ["", String(decoding: $0, as: UTF8.self)] } ?? []
        return ([request.url] + head + form).joined(separator: "\n")
    }

    private func body(_ request: ProviderRequest) -> String { String(decoding: request.form ?? [], as: UTF8.self) }
}
