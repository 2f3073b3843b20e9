// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import NativeCrypto
import NativeCurl
import NativeJOSE
import NativeJSON
import NativeSQLite
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("ID tokens at an exchange")
struct IDTokenTests {
    @Test(
        "a provider is found by its issuer, and whom its ID token names is the record's provider subject",
        arguments: [
            (SigningKeys.rsa, JOSEAlgorithm.rs256), (SigningKeys.rsa, .ps256), (SigningKeys.ec, .es256),
        ])
    func verified(pem: String, algorithm: JOSEAlgorithm) async throws {
        let script = try OpenIDScript(pem, algorithm)
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.url, sections: script.settings()) { gateway async throws in
            let made = try await gateway.exchange("c-canary-1", nonce: "nonce-canary-1")
            #expect(made.status == 201)
            #expect(made.json["provider_subject"]?.string == "s-canary-1")
            #expect(made.json["profile_status"]?.string == "current")
            #expect(made.json["profile"]?["email"]?.string == "ada@canary.example")
            #expect(script.count(of: "/token") == 1 && script.count(of: "/userinfo") == 1)
            // Asked for once, at the start or by this exchange.
            #expect(script.count(of: "/jwks") == 1)
            #expect(script.count(of: "/.well-known/openid-configuration") == 1)
            #expect(try await gateway.eventTypes(made.id) == ["consent.created"])
        }
    }

    /// What makes an ID token wrong, and what `detail` says of it.
    struct Wrong: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var says: String
        var nonce: String?
        var bend: @Sendable (inout OpenIDScript.Behaviour) -> Void
    }

    static let wrongs = [
        Wrong(testDescription: "iss", says: "iss is not http") {
            $0.claims["iss"] = "https://evil.example"
        },
        Wrong(testDescription: "aud", says: "aud does not name this client") { $0.claims["aud"] = "other" },
        Wrong(testDescription: "aud beside", says: "azp is missing") { $0.claims["aud"] = ["acme-client", "other"] },
        Wrong(testDescription: "azp", says: "azp is not this client") { $0.claims["azp"] = "other" },
        Wrong(testDescription: "exp", says: "exp is past") { $0.claims["exp"] = 1_700_000_000 },
        Wrong(testDescription: "no exp", says: "exp is missing") { $0.withoutClaims = ["exp"] },
        Wrong(testDescription: "nbf", says: "nbf is not reached yet") { $0.claims["nbf"] = 4_000_000_000 },
        Wrong(testDescription: "iat", says: "iat is in the future") { $0.claims["iat"] = 4_000_000_000 },
        Wrong(testDescription: "no sub", says: "sub is missing") { $0.withoutClaims = ["sub"] },
        Wrong(testDescription: "at_hash", says: "at_hash does not belong") { $0.claims["at_hash"] = "AAAA" },
        Wrong(testDescription: "nonce", says: "nonce is not the one", nonce: "another") { _ in },
        Wrong(testDescription: "no nonce", says: "nonce is missing", nonce: "nonce-canary-1") {
            $0.withoutClaims = ["nonce"]
        },
        Wrong(testDescription: "none came", says: "the ID token is missing") { $0.idToken = { _ in nil } },
        Wrong(testDescription: "an empty one", says: "the ID token is missing") { $0.idToken = { _ in "" } },
        Wrong(testDescription: "not signed", says: "the token is not signed") { behaviour in
            behaviour.idToken = { made in
                let claims = made.split(separator: ".")[1]
                return Base64.urlSafe.text(of: Array(#"{"alg":"none"}"#.utf8)) + ".\(claims)."
            }
        },
        Wrong(testDescription: "junk", says: "has not three parts") { $0.idToken = { _ in "junk-canary" } },
        Wrong(testDescription: "altered", says: "the signature does not match") { behaviour in
            behaviour.idToken = { made in
                var parts = made.split(separator: ".").map(String.init)
                parts[1] = Base64.urlSafe.text(of: Array(#"{"sub":"s-2"}"#.utf8))
                return parts.joined(separator: ".")
            }
        },
        Wrong(testDescription: "userinfo of another", says: "userinfo's sub is not the ID token's") {
            $0.userinfo = { _ in .http(200, OpenIDScript.person("s-canary-2")) }
        },
    ]

    @Test("what is wrong ends the code with the reason, the same again; its tokens are set aside", arguments: wrongs)
    func invalid(_ wrong: Wrong) async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        script.change(wrong.bend)
        try await TestGateway.with(provider: script.url, sections: script.settings()) { gateway async throws in
            for _ in 0..<2 {
                let answer = try await gateway.exchange("c-canary-1", nonce: wrong.nonce)
                #expect(answer.status == 422 && answer.code == "id_token_invalid")
                let detail = answer.json["detail"]?.string ?? ""
                #expect(detail.contains(wrong.says), "\(detail)")
                #expect(answer.json["provider_error"] == nil)
            }
            #expect(script.count(of: "/token") == 1)
            #expect(script.count(of: "/revoke") == 0)
            // No token is used before the ID token has been verified (RFC 9700, section 4.5.3.2).
            #expect(script.count(of: "/userinfo") == (wrong.says.hasPrefix("userinfo") ? 1 : 0))
            #expect(gateway.log.text.contains("the identity of a grant is refused"))
            #expect(try IDTokenTests.quarantined(gateway) == 1)
            let rules = RetentionRules(
                records: .seconds(1), evidence: .seconds(1), reauthorizationRequired: .seconds(1),
                exchanges: .seconds(90 * 86_400))
            let store = gateway.serving.gateway.store
            let now = gateway.serving.place.time.now
            let hour = Duration.seconds(3600)
            #expect(try await store.retain(.quarantine, rules, at: now.advanced(by: hour * 23), limit: 10) == 0)
            #expect(try await store.retain(.quarantine, rules, at: now.advanced(by: hour * 25), limit: 10) == 1)
            #expect(try IDTokenTests.quarantined(gateway) == 0)
            #expect(try await gateway.exchange("c-canary-1", nonce: wrong.nonce).code == "id_token_invalid")
        }
    }

    private static let count = SQLiteQuery(
        "SELECT count(*) FROM code_reservations WHERE state = 'ended' AND grant_sealed IS NOT NULL")

    /// How many refused grants lie sealed beside their codes.
    static func quarantined(_ gateway: TestGateway) throws -> Int {
        let connection = try SQLiteConnection(
            path: gateway.folder + "/consents.db", access: .readOnly, busyTimeout: 10_000)
        let row = try connection.prepare(IDTokenTests.count)
        try row.bind()
        _ = try row.step()
        return Int(row.integer())
    }

    @Test("a key that is new a moment after the keys were fetched is found at once; the next one is waited for")
    func rotation() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        let keys = try [SigningKeys.otherRSA, SigningKeys.rsa].map { try SigningKeys.key($0, .rs256) }
        let settings = script.settings(IssuerTests.short)
        func rotate(to key: AssertionKey) {
            script.change { behaviour in
                behaviour.key = key
                behaviour.keys = [key.publicJWK]
            }
        }
        try await TestGateway.with(provider: script.url, sections: settings) { gateway async throws in
            #expect(try await gateway.exchange("c-canary-1").status == 201)
            rotate(to: keys[0])
            #expect(try await gateway.exchange("c-canary-2", subject: "user-2").status == 201)
            #expect(script.count(of: "/jwks") == 2)
            rotate(to: keys[1])
            // Nobody looks twice a minute; whether there is such a key by now, nobody knows: the grant is kept.
            let early = try await gateway.exchange("c-canary-3", subject: "user-3")
            #expect(early.status == 503 && early.code == "exchange_pending")
            #expect(script.count(of: "/jwks") == 2)
            #expect(script.count(of: "/revoke") == 0)
        }
    }

    @Test("where ID tokens are optional, userinfo tells who it is, unless one comes or a nonce is to be found in it")
    func optional() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        script.change { $0.idToken = { _ in "" } }
        let settings = script.settings("id_token: optional")
        try await TestGateway.with(provider: script.url, sections: settings) { gateway async throws in
            let made = try await gateway.exchange("c-canary-1")
            #expect(made.status == 201 && made.json["provider_subject"]?.string == "s-canary-1")
            let nonce = try await gateway.exchange("c-canary-2", nonce: "nonce-canary-1")
            #expect(nonce.code == "id_token_invalid")
            script.change {
                $0.idToken = { $0 }
                $0.claims["aud"] = "other"
            }
            #expect(try await gateway.exchange("c-canary-3").code == "id_token_invalid")
        }
    }

    @Test("where ID tokens are ignored none is looked at, and a nonce is refused before the code is sent")
    func ignored() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        script.change { $0.idToken = { _ in "e30.e30.AA" } }
        let settings = script.settings("id_token: ignored")
        try await TestGateway.with(provider: script.url, sections: settings) { gateway async throws in
            let nonce = try await gateway.exchange("c-canary-1", nonce: "nonce-canary-1")
            #expect(nonce.status == 400 && nonce.json["detail"]?.string?.contains("nonce") == true)
            #expect(script.count(of: "/token") == 0)
            #expect(try await gateway.exchange("c-canary-1").status == 201)
            #expect(script.count(of: "/jwks") == 0)
        }
    }

    @Test("where a nonce is required, a code without one is refused before it is sent")
    func nonceRequired() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        let settings = script.settings("nonce: required")
        try await TestGateway.with(provider: script.url, sections: settings) { gateway async throws in
            let bare = try await gateway.exchange("c-canary-1")
            #expect(bare.status == 400 && bare.code == "invalid_request")
            #expect(script.count(of: "/token") == 0)
            #expect(try await gateway.exchange("c-canary-1", nonce: "nonce-canary-1").status == 201)
        }
    }

    @Test("an algorithm that is not known here costs nobody the tokens, and no profile is trusted")
    func unknownAlgorithm() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        script.nameUnknownAlgorithm()
        try await TestGateway.with(provider: script.url, sections: script.settings()) { gateway async throws in
            let made = try await gateway.exchange("c-canary-1")
            #expect(made.status == 201 && made.json["profile_status"]?.string == "unavailable")
            #expect(made.json["provider_subject"]?.isNull == true && made.json["profile"]?.isNull != false)
            let id = try #require(made.id)
            #expect(try await gateway.eventTypes(id) == ["consent.created", "security.identity_unverified"])
            // Neither by asking for it nor with the next tokens.
            #expect(try await gateway.call(.get, "/v1/consents/\(id)/profile").status == 503)
            #expect(try await gateway.refresh(id).status == 200)
            #expect(script.count(of: "/userinfo") == 0)
        }
    }

    @Test("an algorithm that is not known here, and a nonce that would have to be looked at: the code is refused")
    func unknownAlgorithmWithNonce() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        script.nameUnknownAlgorithm()
        try await TestGateway.with(provider: script.url, sections: script.settings()) { gateway async throws in
            for _ in 0..<2 {
                let refused = try await gateway.exchange("c-canary-1", nonce: "nonce-canary-1")
                #expect(refused.status == 422 && refused.code == "id_token_invalid")
                #expect(refused.json["detail"]?.string?.contains("ES256K") == true)
            }
            #expect(script.count(of: "/token") == 1 && script.count(of: "/userinfo") == 0)
            #expect(script.count(of: "/revoke") == 0)
        }
    }

    @Test("a person who is known by the ID token is renewed even while userinfo is down")
    func renewal() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.url, sections: script.settings()) { gateway async throws in
            let made = try await gateway.exchange("c-canary-1")
            #expect(made.status == 201)
            script.change { $0.userinfo = { _ in .http(503, "") } }
            let again = try await gateway.exchange("c-canary-2")
            #expect(again.status == 200 && again.id == made.id)
            #expect(again.json["profile_status"]?.string == "current")
            #expect(again.json["profile"]?["email"]?.string == "ada@canary.example")
            let other = try await gateway.exchange("c-canary-3", subject: "user-2")
            #expect(other.status == 201 && other.json["profile_status"]?.string == "pending")
            #expect(other.json["provider_subject"]?.string == "s-canary-1")
        }
    }

    @Test("an account of another subject is told of, or refused where the configuration says so")
    func shared() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.url, sections: script.settings()) { gateway async throws in
            #expect(try await gateway.exchange("c-canary-1").status == 201)
            let second = try await gateway.exchange("c-canary-2", subject: "user-2")
            #expect(second.status == 201)
            #expect(
                try await gateway.eventTypes(second.id) == ["consent.created", "security.provider_subject_shared"])
        }
        let settings = script.settings("on_shared_subject: refuse")
        try await TestGateway.with(provider: script.url, sections: settings) { gateway async throws in
            #expect(try await gateway.exchange("c-canary-3").status == 201)
            for _ in 0..<2 {
                let second = try await gateway.exchange("c-canary-4", subject: "user-2")
                #expect(second.status == 409 && second.code == "shared_subject")
            }
            // The same subject's own consent is renewed.
            #expect(try await gateway.exchange("c-canary-5").status == 200)
            #expect(script.count(of: "/revoke") == 0)
        }
    }
}

extension OpenIDScript {
    /// From now on ID tokens say that they are signed as nobody here knows how.
    fileprivate func nameUnknownAlgorithm() {
        change { behaviour in
            behaviour.idToken = { made in
                var parts = made.split(separator: ".").map(String.init)
                parts[0] = Base64.urlSafe.text(of: Array(#"{"alg":"ES256K"}"#.utf8))
                return parts.joined(separator: ".")
            }
        }
    }
}
