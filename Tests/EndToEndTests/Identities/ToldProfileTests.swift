// SPDX-License-Identifier: Apache-2.0
import NativeCurl
import NativeJSON
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("A provider that tells of a person in ID tokens alone")
struct ToldProfileTests {
    /// As Sign in with Apple does it: truth as text, and members that nobody asked for.
    private static let claims: [String: JSONValue] = [
        "email": "x1@privaterelay.example", "email_verified": "true", "is_private_email": "true",
        "real_user_status": 2, "name": "Nobody Signed",
    ]

    @Test("the profile is what the verified ID token says, cut to the scopes; nobody is asked for more")
    func told() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        script.change {
            $0.metadata = ["userinfo_endpoint": .null]
            $0.claims = ToldProfileTests.claims
        }
        try await TestGateway.with(provider: script.url, sections: script.settings()) { gateway async throws in
            let made = try await gateway.exchange("c-canary-1")
            let id = try #require(made.id, "\(made)")
            #expect(made.json["profile_status"]?.string == "current")
            let profile = try #require(made.json["profile"])
            #expect(profile["email"]?.string == "x1@privaterelay.example" && profile["email_verified"]?.boolean == true)
            #expect(profile["sub"]?.string == "s-canary-1" && profile.count == 3)
            // Asked for anew, there is nobody to ask: what is held stays.
            let again = try await gateway.call(.get, "/v1/consents/\(id)/profile?max_age=0")
            #expect(again.status == 200 && again.json["stale"]?.boolean == true)
            #expect(again.json["claims"]?["email"]?.string == "x1@privaterelay.example")
            #expect(try await gateway.record(id).json["profile_status"]?.string == "current")
            #expect(script.count(of: "/userinfo") == 0)
        }
    }

    @Test("an ID token without a single attribute but sub is a profile of sub")
    func bare() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        script.change { $0.metadata = ["userinfo_endpoint": .null] }
        try await TestGateway.with(provider: script.url, sections: script.settings()) { gateway async throws in
            let made = try await gateway.exchange("c-canary-1")
            #expect(made.status == 201 && made.json["profile_status"]?.string == "current")
            #expect(made.json["profile"]?["sub"]?.string == "s-canary-1" && made.json["profile"]?.count == 1)
        }
    }
}
