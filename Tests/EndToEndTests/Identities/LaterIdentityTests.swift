// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCurl
import NativeJOSE
import NativeJSON
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("Identities after the exchange")
struct LaterIdentityTests {
    /// What a refreshed ID token says, and what the trail tells of it.
    struct Refreshed: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var event: String?
        var bend: @Sendable (inout OpenIDScript.Behaviour) -> Void
    }

    static let refreshed = [
        Refreshed(testDescription: "the same person", event: nil) { _ in },
        Refreshed(testDescription: "none", event: nil) { $0.idToken = { _ in nil } },
        Refreshed(testDescription: "an empty one", event: nil) { $0.idToken = { _ in "" } },
        Refreshed(testDescription: "without a nonce", event: nil) { $0.withoutClaims = ["nonce"] },
        Refreshed(testDescription: "another nonce", event: "security.id_token_refused") {
            $0.claims["nonce"] = "nonce-canary-2"
        },
        Refreshed(testDescription: "a nonce that is no text", event: "security.id_token_refused") {
            $0.claims["nonce"] = 1
        },
        Refreshed(testDescription: "another person", event: "security.provider_subject_changed") {
            $0.claims["sub"] = "s-canary-2"
        },
        Refreshed(testDescription: "another issuer", event: "security.id_token_refused") {
            $0.claims["iss"] = "https://evil.example"
        },
        Refreshed(testDescription: "junk", event: "security.id_token_refused") { $0.idToken = { _ in "e30.e30.AA" } },
    ]

    @Test("a refreshed ID token never costs tokens; what is wrong with it is told", arguments: refreshed)
    func refresh(_ wrong: Refreshed) async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        let settings = script.settings("profile: { max_age: 1ms }")
        try await TestGateway.with(provider: script.url, sections: settings) { gateway async throws in
            let made = try await gateway.exchange("c-canary-1")
            let id = try #require(made.id)
            script.change(wrong.bend)
            let refreshed = try await gateway.refresh(id)
            #expect(refreshed.status == 200 && refreshed.json["status"]?.string == "active")
            #expect(refreshed.json["provider_subject"]?.string == "s-canary-1")
            let security = try await gateway.eventTypes(id).filter { $0.hasPrefix("security.") }
            #expect(security == (wrong.event.map { [$0] } ?? []))
            // The profile that is too old by now is asked for again only where the token raises no doubt.
            #expect(script.count(of: "/userinfo") == (wrong.event == nil ? 2 : 1))
            // The next refresh sends what the last one brought.
            #expect(try await gateway.refresh(id).status == 200)
            #expect(
                script.provider.requests.last { $0.line.contains("/token") }?.body.contains("refresh-canary-2") == true)
            #expect(script.count(of: "/revoke") == 0)
        }
    }

    /// What the trail tells of the ID tokens of refreshes.
    private static func refusals(_ gateway: TestGateway, _ id: String) async throws -> Int {
        try await gateway.eventTypes(id).count { $0 == "security.id_token_refused" }
    }

    @Test("the nonce of the first ID token is that of every later one, however often the grant is refreshed")
    func nonce() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.url, sections: script.settings()) { gateway async throws in
            let id = try #require(try await gateway.exchange("c-canary-1", nonce: "nonce-canary-1").id)
            for _ in 0..<2 { #expect(try await gateway.refresh(id).status == 200) }
            #expect(try await LaterIdentityTests.refusals(gateway, id) == 0)
            script.change { $0.claims["nonce"] = "nonce-canary-2" }
            #expect(try await gateway.refresh(id).json["status"]?.string == "active")
            #expect(try await LaterIdentityTests.refusals(gateway, id) == 1)
            script.change { $0.claims["nonce"] = "nonce-canary-1" }
            #expect(try await gateway.refresh(id).status == 200)
            #expect(try await LaterIdentityTests.refusals(gateway, id) == 1)
            // Another sign-in, which brings a refresh token: from now on its own.
            script.change { $0.claims["nonce"] = "nonce-canary-3" }
            #expect(try await gateway.exchange("c-canary-2", nonce: "nonce-canary-3").status == 200)
            #expect(try await gateway.refresh(id).status == 200)
            #expect(try await LaterIdentityTests.refusals(gateway, id) == 1)
            // One that brings none: what is refreshed is still the one before.
            script.change { behaviour in
                behaviour.claims["nonce"] = "nonce-canary-4"
                behaviour.answer["refresh_token"] = ""
            }
            #expect(try await gateway.exchange("c-canary-3", nonce: "nonce-canary-4").status == 200)
            #expect(try await gateway.refresh(id).status == 200)
            #expect(try await LaterIdentityTests.refusals(gateway, id) == 2)
            script.change { $0.claims["nonce"] = "nonce-canary-3" }
            #expect(try await gateway.refresh(id).status == 200)
            #expect(try await LaterIdentityTests.refusals(gateway, id) == 2)
            #expect(script.count(of: "/revoke") == 0)
        }
    }

    @Test("where the first ID token had no nonce, one that comes later is passed over")
    func noNonce() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        script.change { $0.withoutClaims = ["nonce"] }
        try await TestGateway.with(provider: script.url, sections: script.settings()) { gateway async throws in
            let id = try #require(try await gateway.exchange("c-canary-1").id)
            script.change { $0.withoutClaims = [] }
            #expect(try await gateway.refresh(id).status == 200)
            #expect(try await LaterIdentityTests.refusals(gateway, id) == 0)
        }
    }

    @Test("a signed profile is verified, and one that is not genuine is not trusted")
    func signedUserinfo() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        let claims: JSONValue = ["sub": "s-canary-1", "email": "signed@canary.example"]
        script.change { $0.userinfo = { $0.signed(claims) } }
        try await TestGateway.with(provider: script.url, sections: script.settings()) { gateway async throws in
            let made = try await gateway.exchange("c-canary-1")
            #expect(made.json["profile"]?["email"]?.string == "signed@canary.example")
            let other = try SigningKeys.key(SigningKeys.otherRSA, .rs256)
            script.change { behaviour in
                behaviour.userinfo = { answerer in
                    var forged = answerer.behaviour
                    forged.key = other
                    return OpenIDScript.Answerer(issuer: answerer.issuer, behaviour: forged).signed(claims)
                }
            }
            let forged = try await gateway.exchange("c-canary-2", subject: "user-2")
            #expect(forged.status == 201 && forged.json["profile"]?.isNull != false)
            #expect(forged.json["profile_status"]?.string != "current")
            #expect(forged.json["provider_subject"]?.string == "s-canary-1")
            script.change { $0.userinfo = { $0.signed(["sub": "s-canary-2"]) } }
            #expect(try await gateway.exchange("c-canary-3", subject: "user-3").code == "id_token_invalid")
        }
    }

    @Test("a profile of another person that is fetched later is refused, and the trail tells")
    func laterProfile() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.url, sections: script.settings()) { gateway async throws in
            let id = try #require(try await gateway.exchange("c-canary-1").id)
            script.change { $0.userinfo = { _ in .http(200, OpenIDScript.person("s-canary-2")) } }
            let profile = try await gateway.call(.get, "/v1/consents/\(id)/profile?max_age=0")
            #expect(profile.json["stale"]?.boolean == true)
            #expect(profile.json["claims"]?["sub"]?.string == "s-canary-1")
            #expect(try await gateway.eventTypes(id).contains("security.provider_subject_changed"))
        }
    }
}
