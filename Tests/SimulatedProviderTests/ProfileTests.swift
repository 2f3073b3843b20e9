// SPDX-License-Identifier: Apache-2.0
import NativeJSON
import SimulatedProvider
import Testing

@Suite("Profiles of the simulated provider")
struct ProfileTests {
    @Test("the openid schema has standard claims, PayPal's own, and the identifier twice")
    func openid() throws {
        let bench = Bench()
        let token = bench.redeem(bench.code())?.text("access_token")
        let profile = try #require(bench.userinfo(token))
        #expect(profile.text("user_id")?.hasPrefix("https://www.paypal.com/webapps/auth/identity/user/") == true)
        #expect(profile.text("sub") == profile.text("user_id"))
        #expect(profile.text("name") == "Alice Example")
        #expect(profile.text("email_verified") == "true")
        #expect(profile.text("phone_number") == "4082560980")
        #expect(profile.json?["address"]?["postal_code"]?.string == "95131")
        #expect(profile.text("payer_id")?.utf8.count == 13)
    }

    @Test("the paypalv1.1 schema has a list of addresses for letters and no sub")
    func paypal() throws {
        let bench = Bench()
        let token = bench.redeem(bench.code(for: "bob"))?.text("access_token")
        let profile = try #require(
            bench.get("/v1/identity/oauth2/userinfo?schema=paypalv1.1", bearer: token))
        #expect(profile.json?["sub"] == nil)
        #expect(profile.json?["emails"]?[0]?["value"]?.string == "bob@example.test")
        #expect(profile.json?["emails"]?[0]?["confirmed"]?.boolean == false)
        #expect(profile.text("verified_account") == "true")
        #expect(bench.get("/v1/identity/oauth2/userinfo", bearer: token)?.status == 404)
    }

    @Test("what the scopes do not cover is not told")
    func scopes() throws {
        let bench = Bench()
        let reply = bench.control("/simulator/codes", #"{"scopes":["openid","email"]}"#)
        let tokens = bench.redeem(reply?.text("code") ?? "")
        #expect(tokens?.text("scope") == "openid email")
        let profile = try #require(bench.userinfo(tokens?.text("access_token")))
        #expect(profile.json?.members.map(\.name).sorted() == ["email", "email_verified", "sub", "user_id"])
    }

    @Test("people differ in what they gave, and keep their identifiers from run to run")
    func people() {
        #expect(People.named("bob").phoneNumber == nil)
        #expect(People.named("carla").address == nil)
        #expect(People.named("user-7").userID == People.named("user-7").userID)
        #expect(Set(People.known.values.map(\.userID)).count == People.known.count)
    }
}

@Suite("Numbers that nobody can guess")
struct SecureGeneratorTests {
    @Test("they do not come twice, over several fetches")
    func distinct() {
        var generator = SecureGenerator()
        #expect(Set((0..<1_000).map { _ in generator.next() }).count == 1_000)
    }
}
