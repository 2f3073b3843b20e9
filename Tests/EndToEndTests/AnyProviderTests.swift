// SPDX-License-Identifier: Apache-2.0
import NativeCurl
import NativeJSON
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("Any provider with configured endpoints")
struct AnyProviderTests {
    static func settings(_ url: String) -> String {
        """
          acme:
            authorization_endpoint: \(url)/authorize
            token_endpoint: \(url)/token
            userinfo_endpoint: \(url)/userinfo
            client_id: "1PpG/Q 1"
            client_secret: "z/t+Z:="
            scopes: [openid, email]
            id_token: ignored
            redirect_uri: com.acme.app:/cb
            redirect_uris: [com.acme.other:/cb]
        """
    }

    static let verifier = String(repeating: "v", count: 43)

    static func body(_ members: String) -> CurlMethod {
        .post(Array(#"{"provider":"acme","subject":"u","code":"AB+C/D=&%é",\#(members)}"#.utf8))
    }

    @Test("a code with its verifier is exchanged as the standard says, the claims are kept by their scopes")
    func exchange() async throws {
        let script = try PayPalScript { call, _, _ in
            call == .userinfo
                ? .http(200, #"{"sub":"s-1","email":"a@example.test","email_verified":true,"name":"Not Asked"}"#) : nil
        }
        defer { script.provider.stop() }
        let url = script.provider.url
        try await TestGateway.with(provider: url, sections: AnyProviderTests.settings(url)) { gateway in
            let made = try await gateway.call(
                AnyProviderTests.body(#""code_verifier":"\#(AnyProviderTests.verifier)""#), "/v1/consents")
            #expect(made.status == 201)
            #expect(made.json["environment"]?.isNull == true)
            #expect(made.json["provider_subject"]?.string == "s-1")
            #expect(made.json["profile"] == ["sub": "s-1", "email": "a@example.test", "email_verified": true])
            let exchange = try #require(script.requests(of: .exchange).first)
            #expect(
                exchange.body == "grant_type=authorization_code&code=AB%2BC%2FD%3D%26%25%C3%A9&"
                    + "redirect_uri=com.acme.app%3A%2Fcb&code_verifier=\(AnyProviderTests.verifier)")
            #expect(exchange.field("Authorization") == "Basic MVBwRyUyRlErMTp6JTJGdCUyQlolM0ElM0Q=")
        }
    }

    @Test("an SDK's response for a provider that has no environments is refused in words that say so")
    func environments() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        let url = script.provider.url
        try await TestGateway.with(provider: url, sections: AnyProviderTests.settings(url)) { gateway in
            let answer = try await gateway.post(code: "c", subject: "u", query: "&provider=acme")
            #expect(answer.status == 400 && answer.code == "environment_mismatch")
            #expect(
                answer.json["detail"]?.string
                    == "The authorization response is of the environment sandbox; the provider "
                    + "has no environments. Name the provider that the app's SDK is for.")
            // Without the environment it is the SDK's form all the same, which asks for neither PKCE nor a nonce.
            for form in [
                #"{"provider":"acme","subject":"u","response_type":"authorization_code","response":{"code":"c"}}"#,
                #"{"provider":"acme","subject":"u","authorization":{"response":{"code":"c"}}}"#,
            ] {
                let answer = try await gateway.call(.post(Array(form.utf8)), "/v1/consents")
                #expect(answer.status == 400)
            }
            #expect(script.provider.requests.isEmpty)
        }
    }

    @Test("a code without its verifier, and one with another redirect URI, is refused before it is sent")
    func refused() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        let url = script.provider.url
        try await TestGateway.with(provider: url, sections: AnyProviderTests.settings(url)) { gateway in
            let bare = try await gateway.call(AnyProviderTests.body(#""nothing":null"#), "/v1/consents")
            #expect(bare.code == "pkce_required")
            for uri in ["com.acme.app:/cb/", "https://evil.example/cb", ""] {
                let members = #""code_verifier":"\#(AnyProviderTests.verifier)","redirect_uri":"\#(uri)""#
                let answer = try await gateway.call(AnyProviderTests.body(members), "/v1/consents")
                #expect(answer.code == "redirect_uri_not_allowed", "\(uri)")
            }
            #expect(script.provider.requests.isEmpty)
            let members = #""code_verifier":"\#(AnyProviderTests.verifier)","redirect_uri":"com.acme.other:/cb""#
            #expect(try await gateway.call(AnyProviderTests.body(members), "/v1/consents").status == 201)
            #expect(script.requests(of: .exchange).first?.body.contains("redirect_uri=com.acme.other%3A%2Fcb") == true)
        }
    }
}
