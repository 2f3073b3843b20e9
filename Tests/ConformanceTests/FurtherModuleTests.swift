// SPDX-License-Identifier: Apache-2.0
import NativeCurl
import NativeJOSE
import NativeJSON
import NativeSystem
import TestSupport
import Testing

@testable import EndToEndTests

/// Modules of `oidcc-client-test-plan` and the dynamic plan that are in none of the three others.
@Suite("Further modules of the OpenID Foundation's relying-party tests")
struct FurtherModuleTests {
    @Test("oidcc-client-test-missing-aud: an ID token for nobody is refused")
    func missingAudience() async throws {
        try await ModuleRun.with(bend: { behaviour in
            behaviour.bendClaims { $0 = $0.without("aud") }
        }) { run in
            try await run.expectRefused("aud is missing")
        }
    }

    @Test("oidcc-client-test-invalid-athash: an ID token with the hash of another access token is refused")
    func invalidAccessTokenHash() async throws {
        try await ModuleRun.with(bend: { behaviour in
            behaviour.bendClaims { $0.set("at_hash", ($0["at_hash"]?.string ?? "") + "1") }
        }) { run in
            try await run.expectRefused("at_hash does not belong to the access token")
        }
    }

    @Test("oidcc-client-test-invalid-sig-hs256: a broken MAC is refused, also where HS256 alone is allowed")
    func brokenHS256() async throws {
        let secret = "acme-secret-canary-of-32-bytes-or-more"
        var client = RegisteredClient()
        client.secret = secret
        client.lines = ["preset: django-oauth-toolkit", "id_token_algorithms: [HS256]"]
        let bend: (inout OpenIDScript.Behaviour) -> Void = { behaviour in
            behaviour.metadata = ["id_token_signing_alg_values_supported": ["HS256"]]
            behaviour.idToken = { MACTests.signed($0, with: secret) }
        }
        try await ModuleRun.with(client, bend: bend) { run in
            let made = try await run.post()
            #expect(made.status == 201 && made.json["provider_subject"]?.string == "s-canary-1")
        }
        try await ModuleRun.with(
            client,
            bend: { behaviour in
                bend(&behaviour)
                behaviour.idToken = { MACTests.signed($0, with: secret + "1") }
            }
        ) { run in
            try await run.expectRefused("the signature does not match")
        }
        // Where nobody has allowed it, a good MAC is none either.
        client.lines = []
        try await ModuleRun.with(client, bend: bend) { run in
            try await run.expectRefused("the token's algorithm HS256 is not allowed")
        }
    }

    @Test("oidcc-client-test-invalid-sig-es256: a broken ES256 signature is refused")
    func brokenES256() async throws {
        try await ModuleRun.with(
            pem: SigningKeys.ec, .es256,
            bend: { behaviour in
                behaviour.metadata = ["id_token_signing_alg_values_supported": ["ES256"]]
                behaviour.breakSignature()
            }
        ) { run in
            try await run.expectRefused("the signature does not match")
        }
    }

    @Test("oidcc-client-test-userinfo-bearer-header: the access token goes into the header Authorization alone")
    func bearerHeader() async throws {
        try await ModuleRun.with { run in
            try await run.expectAccepted()
            let request = try #require(run.requests("/userinfo").first)
            #expect(request.text.hasPrefix("GET /userinfo HTTP/1.1\r\n"))
            #expect(request.text.split(separator: "access-canary-1", omittingEmptySubsequences: false).count == 2)
            #expect(request.field("Authorization") == "Bearer access-canary-1")
        }
    }

    @Test("oidcc-client-test-userinfo-signed: a signed profile is verified with the issuer's keys, and used")
    func signedUserinfo() async throws {
        try await ModuleRun.with(bend: { behaviour in
            behaviour.metadata = ["userinfo_signing_alg_values_supported": ["RS256"]]
            behaviour.userinfo = { $0.signed(["sub": "s-canary-1", "email": "signed@canary.example"]) }
        }) { run in
            let made = try await run.expectAccepted()
            #expect(made.json["profile"]?["email"]?.string == "signed@canary.example")
        }
        let other = try SigningKeys.key(SigningKeys.otherRSA, .rs256)
        try await ModuleRun.with(bend: { behaviour in
            behaviour.userinfo = { _ in
                .http(200, other.sign(["sub": "s-canary-1"], type: "JWT"), type: "application/jwt")
            }
        }) { run in
            let made = try await run.post()
            #expect(made.status == 201 && made.json["provider_subject"]?.string == "s-canary-1")
            #expect(made.json["profile_status"]?.string != "current" && made.json["profile"]?.isNull != false)
        }
    }

    @Test("oidcc-client-test-aggregated-claims: claims of others are passed over, the provider's own are used")
    func aggregatedClaims() async throws {
        try await ModuleRun.with(
            FurtherModuleTests.wholeClient,
            bend: { behaviour in
                behaviour.answer["scope"] = "openid email address phone"
                let vouched: JSONValue = [
                    "address": ["locality": "Canary Wharf"], "phone_number": "+1 310 555 canary",
                ]
                let token = BentToken(header: ["alg": "none"], claims: vouched).text { _ in [] }
                behaviour.userinfo = { _ in
                    .http(
                        200,
                        """
                        {"sub":"s-canary-1","email":"ada@canary.example",\
                        "_claim_names":{"address":"src1","phone_number":"src1"},"_claim_sources":{"src1":{"JWT":"\(token)"}}}
                        """)
                }
            }
        ) { run in
            try await run.expectOwnClaimsOnly()
        }
    }

    @Test("oidcc-client-test-distributed-claims: a place that the profile points to is not asked")
    func distributedClaims() async throws {
        try await ModuleRun.with(
            FurtherModuleTests.wholeClient,
            bend: { behaviour in
                behaviour.answer["scope"] = "openid email address phone"
                behaviour.userinfo = { answerer in
                    .http(
                        200,
                        """
                        {"sub":"s-canary-1","email":"ada@canary.example","_claim_names":{"phone_number":"src1"},\
                        "_claim_sources":{"src1":{"endpoint":"\(answerer.issuer)/claims","access_token":"claims-canary-1"}}}
                        """)
                }
            }
        ) { run in
            try await run.expectOwnClaimsOnly()
            #expect(run.requests("/claims").isEmpty)
            #expect(!run.script.provider.requests.contains { $0.text.contains("claims-canary-1") })
        }
    }

    private static var wholeClient: RegisteredClient {
        var client = RegisteredClient()
        client.scopes = "openid, email, address, phone"
        return client
    }

    @Test("oidcc-client-test-mtls-endpoint-aliases: a client with a certificate asks where the metadata want it to")
    func certificateAliases() async throws {
        let folder = try makeTemporaryFolder(prefix: "consent-gateway-test-", in: "/tmp")
        defer { removeFolder(at: folder) }
        let (key, certificate) = (folder + "/client.key", folder + "/client.pem")
        try ChildProcess([
            "/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=acme-client",
        ]).wait()
        let both = try readFile(at: certificate, limit: 1 << 16).bytes + readFile(at: key, limit: 1 << 16).bytes
        try replaceFile(both, at: certificate, permissions: 0o600)
        var client = RegisteredClient()
        (client.method, client.secret) = ("tls_client_auth", nil)
        client.lines = ["client_certificate: \(certificate)"]
        try await ModuleRun.with(
            client,
            told: { url in
                [
                    "mtls_endpoint_aliases": [
                        "token_endpoint": JSONValue("\(url)/tls/token"),
                        "userinfo_endpoint": JSONValue("\(url)/tls/userinfo"),
                    ]
                ]
            }, bend: { $0.otherPaths = ["/tls/token": "/token", "/tls/userinfo": "/userinfo"] }
        ) { run in
            let made = try await run.post()
            #expect(made.status == 201 && made.json["provider_subject"]?.string == "s-canary-1", "\(made.text)")
            #expect(run.requests("/tls/token").count == 1 && run.requests("/tls/userinfo").count == 1)
            #expect(run.requests("/token").isEmpty && run.requests("/userinfo").isEmpty)
            let request = try #require(run.requests("/tls/token").first)
            #expect(request.field("Authorization") == nil && !request.body.contains("client_secret"))
            #expect(request.body.split(separator: "&").contains("client_id=acme-client"))
        }
    }
}

extension ModuleRun {
    /// The profile holds what the provider says itself; what it leaves to others is missing.
    fileprivate func expectOwnClaimsOnly() async throws {
        let made = try await expectAccepted()
        let profile = try #require(made.json["profile"])
        #expect(profile["email"]?.string == "ada@canary.example")
        #expect(profile["phone_number"] == nil && profile["address"] == nil && profile["_claim_sources"] == nil)
        let id = try #require(made.id)
        let reading = try await gateway.call(.get, "/v1/consents/\(id)/profile")
        #expect(reading.json["missing"]?["phone_number"]?.string == "not_provided")
    }
}
