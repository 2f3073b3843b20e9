// SPDX-License-Identifier: Apache-2.0
import NativeCrypto
import NativeCurl
import NativeJOSE
import NativeJSON
import TestSupport
import Testing

@testable import EndToEndTests

/// Modules of `oidcc-client-basic-certification-test-plan`; each test begins with its module's name.
@Suite("The basic plan of the OpenID Foundation's relying-party tests")
struct BasicPlanTests {
    @Test(
        "oidcc-client-test: a code becomes a consent of the person whom the ID token names",
        arguments: [(SigningKeys.rsa, JOSEAlgorithm.rs256), (SigningKeys.rsa, .ps256), (SigningKeys.ec, .es256)])
    func successful(pem: String, algorithm: JOSEAlgorithm) async throws {
        try await ModuleRun.with(pem: pem, algorithm) { run in
            try await run.expectAccepted()
            let again = try await run.post()
            #expect(again.status == 200)
            #expect(run.requests("/token").count == 1)
        }
    }

    @Test(
        "oidcc-client-test: the same where the secret goes into the body, and for a client that has none",
        arguments: [("client_secret_post", "acme-secret"), ("none", nil)])
    func otherAuthentication(method: String, secret: String?) async throws {
        var client = RegisteredClient()
        (client.method, client.secret) = (method, secret)
        try await ModuleRun.with(client) { run in
            let id = try #require(try await run.expectAccepted().id)
            #expect(try await run.gateway.refresh(id).status == 200)
            let calls = run.requests("/token")
            #expect(calls.count == 2)
            for call in calls {
                let parts = call.body.split(separator: "&")
                #expect(call.field("Authorization") == nil && parts.contains("client_id=acme-client"))
                let shown = parts.filter { $0.hasPrefix("client_secret=") }
                #expect(shown == (secret.map { ["client_secret=\($0)"] } ?? []))
            }
        }
    }

    @Test("oidcc-client-test-invalid-iss: an ID token of an issuer that is one character longer is refused")
    func invalidIssuer() async throws {
        try await ModuleRun.with(bend: { behaviour in
            behaviour.bendClaims { $0.set("iss", ($0["iss"]?.string ?? "") + "1") }
        }) { run in
            try await run.expectRefused("iss is not \(run.script.url)")
        }
    }

    @Test("oidcc-client-test-missing-sub: an ID token that names nobody is refused")
    func missingSubject() async throws {
        try await ModuleRun.with(bend: { behaviour in
            behaviour.bendClaims { $0 = $0.without("sub") }
        }) { run in
            try await run.expectRefused("sub is missing")
        }
    }

    @Test("oidcc-client-test-invalid-aud: an ID token for a client whose name is one character longer is refused")
    func invalidAudience() async throws {
        try await ModuleRun.with(bend: { behaviour in
            behaviour.bendClaims { $0.set("aud", "acme-client1") }
        }) { run in
            try await run.expectRefused("aud does not name this client")
        }
    }

    @Test("oidcc-client-test-missing-iat: an ID token that does not tell when it was issued is refused")
    func missingIssueTime() async throws {
        try await ModuleRun.with(bend: { behaviour in
            behaviour.bendClaims { $0 = $0.without("iat") }
        }) { run in
            try await run.expectRefused("iat is missing")
        }
    }

    @Test("oidcc-client-test-kid-absent-single-jwks: without kid the one key that can have signed is taken")
    func oneKeyWithoutName() async throws {
        try await ModuleRun.with(bend: { behaviour in
            behaviour.leaveKeyIDOut()
            behaviour.keys = try? NamelessKeys.others + [NamelessKeys.bare(behaviour.key)]
        }) { run in
            try await run.expectAccepted()
        }
    }

    @Test("oidcc-client-test-kid-absent-multiple-jwks: without kid each key of the algorithm is tried")
    func manyKeysWithoutName() async throws {
        let strangers = try (0..<2).map { _ in
            try AssertionKey(key: .rsa(try RSAPrivateKey(bits: 2048)), algorithm: .rs256)
        }
        try await ModuleRun.with(bend: { behaviour in
            behaviour.leaveKeyIDOut()
            behaviour.keys = try? NamelessKeys.others + (strangers + [behaviour.key]).map(NamelessKeys.bare)
        }) { run in
            try await run.expectAccepted()
        }
        // The same without the key that has signed.
        try await ModuleRun.with(bend: { behaviour in
            behaviour.leaveKeyIDOut()
            behaviour.keys = try? NamelessKeys.others + strangers.map(NamelessKeys.bare)
        }) { run in
            try await run.expectRefused("the signature does not match")
        }
    }

    @Test("oidcc-client-test-idtoken-sig-rs256: RS256 is verified where the provider signs with nothing else")
    func rs256() async throws {
        try await ModuleRun.with(bend: { behaviour in
            behaviour.metadata = ["id_token_signing_alg_values_supported": ["RS256"]]
        }) { run in
            try await run.expectAccepted()
        }
    }

    @Test("oidcc-client-test-idtoken-sig-none: an ID token that nobody has signed is refused, with a code too")
    func unsigned() async throws {
        try await ModuleRun.with(bend: { behaviour in
            behaviour.metadata = ["id_token_signing_alg_values_supported": ["none"]]
            behaviour.idToken = { made in
                var token = BentToken(made)
                token.header = ["alg": "none"]
                return token.text { _ in [] }
            }
        }) { run in
            try await run.expectRefused("the token is not signed")
        }
    }

    @Test("oidcc-client-test-invalid-sig-rs256: a broken RS256 signature is refused, though TLS vouches for the sender")
    func brokenRS256() async throws {
        try await ModuleRun.with(bend: { $0.breakSignature() }) { run in
            try await run.expectRefused("the signature does not match")
        }
    }

    @Test("oidcc-client-test-userinfo-invalid-sub: a profile of another person than the ID token's is refused")
    func otherPerson() async throws {
        try await ModuleRun.with(bend: { behaviour in
            behaviour.userinfo = { _ in .http(200, OpenIDScript.person("s-canary-1-invalid")) }
        }) { run in
            for _ in 0..<2 {
                let answer = try await run.post()
                #expect(answer.status == 422 && answer.code == "id_token_invalid")
                #expect(answer.json["detail"]?.string?.contains("the userinfo's sub is not the ID token's") == true)
            }
            #expect(run.requests("/token").count == 1 && run.requests("/userinfo").count == 1)
            #expect(run.requests("/revoke").isEmpty)
            try await run.expectNoRecord()
        }
    }

    @Test("oidcc-client-test-nonce-invalid: an ID token with another nonce than the app has asked with is refused")
    func invalidNonce() async throws {
        try await ModuleRun.with(bend: { behaviour in
            behaviour.bendClaims { $0.set("nonce", ($0["nonce"]?.string ?? "") + "1") }
        }) { run in
            try await run.expectRefused("nonce is not the one that was asked with")
        }
    }

    @Test("oidcc-client-test-scope-userinfo-claims: the profile holds what the granted scopes cover, and nothing else")
    func claimsOfScopes() async throws {
        var client = RegisteredClient()
        client.scopes = "openid, profile, email, address, phone"
        try await ModuleRun.with(
            client,
            bend: { behaviour in
                behaviour.answer["scope"] = "openid profile email address"
                behaviour.userinfo = { _ in
                    .http(
                        200,
                        """
                        {"sub":"s-canary-1","name":"Ada Canary","birthdate":"1815-12-10","email":"ada@canary.example",\
                        "email_verified":true,"phone_number":"+1 310 555 canary",\
                        "address":{"locality":"Canary Wharf","country":"GB"},"credit_score":650}
                        """)
                }
            }
        ) { run in
            let made = try await run.expectAccepted()
            let profile = made.json["profile"]
            #expect(profile?["name"]?.string == "Ada Canary" && profile?["birthdate"]?.string == "1815-12-10")
            #expect(profile?["email"]?.string == "ada@canary.example" && profile?["email_verified"]?.boolean == true)
            #expect(profile?["address"]?["locality"]?.string == "Canary Wharf")
            #expect(profile?["phone_number"] == nil && profile?["credit_score"] == nil)
            let id = try #require(made.id)
            let reading = try await run.gateway.call(.get, "/v1/consents/\(id)/profile")
            #expect(reading.json["missing"]?["phone_number"]?.string == "not_granted")
            #expect(reading.json["missing"]?["gender"]?.string == "not_provided")
        }
    }

    @Test("oidcc-client-test-client-secret-basic: name and secret go form-encoded into HTTP Basic, and nowhere else")
    func basicAuthentication() async throws {
        var client = RegisteredClient()
        client.id = "acme client:1"
        client.secret = "s+canary %&=/:€"
        try await ModuleRun.with(client) { run in
            try await run.expectAccepted()
            let request = try #require(run.requests("/token").first)
            let words = "acme+client%3A1:s%2Bcanary+%25%26%3D%2F%3A%E2%82%AC"
            #expect(request.field("Authorization") == "Basic " + Base64.standard.text(of: Array(words.utf8)))
            #expect(!request.body.contains("client_secret") && !request.body.contains("client_assertion"))
        }
    }
}
