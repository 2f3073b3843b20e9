// SPDX-License-Identifier: Apache-2.0
import NativeCrypto
import NativeJSON
import SimulatedProvider
import Testing

@Suite("OpenID's endpoints of the simulated provider")
struct OpenIDTests {
    private static let query =
        "response_type=code&client_id=simulated-client&redirect_uri=https%3A%2F%2Fshop.example%2Freturn%3Fa%3Db"
        + "&state=s%26t&login_hint=carla&scope=openid+email"

    @Test("discovery names endpoints of this issuer, and no key signs anything")
    func discovery() throws {
        let bench = Bench()
        bench.simulation.issuer = "http://127.0.0.1:4711"
        let document = try #require(bench.get("/.well-known/openid-configuration"))
        #expect(document.text("issuer") == "http://127.0.0.1:4711")
        #expect(document.text("token_endpoint") == "http://127.0.0.1:4711/token")
        #expect(document.json?["id_token_signing_alg_values_supported"]?.count == 0)
        #expect(bench.get("/jwks").map { String(decoding: $0.body, as: UTF8.self) } == #"{"keys":[]}"#)
    }

    @Test("the authorization page consents at once; its code wants the same redirect URI and the verifier")
    func authorization() throws {
        let bench = Bench()
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
        let challenge = "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"
        let page = try #require(bench.get("/authorize?" + Self.query + challenge))
        let location = try #require(page.field("Location"))
        #expect(page.status == 302)
        #expect(location.hasPrefix("https://shop.example/return?a=b&code=code-for%3Acarla%3A"))
        #expect(location.hasSuffix("&state=s%26t&iss=http%3A%2F%2F127.0.0.1"))
        let code = try #require(FormPairs(Array(location.utf8))["code"])
        let uri = "https://shop.example/return?a=b"
        for (redirectURI, verifier) in [(uri + "/", verifier), (uri, "wrong")] {
            let reply = bench.post(
                "/token",
                [
                    "grant_type": "authorization_code", "code": code, "redirect_uri": redirectURI,
                    "code_verifier": verifier,
                ])
            #expect(reply?.text("error") == "invalid_grant")
        }
        let tokens = bench.post(
            "/token",
            ["grant_type": "authorization_code", "code": code, "redirect_uri": uri, "code_verifier": verifier])
        #expect(tokens?.text("scope") == "openid email")
        let profile = bench.get("/userinfo", bearer: tokens?.text("access_token"))
        #expect(profile?.json?.members.map(\.name).sorted() == ["email", "email_verified", "sub"])
        #expect(profile?.json?["email_verified"]?.boolean == true)
    }

    @Test("a request that cannot be sent back is a 400")
    func unusable() {
        let bench = Bench()
        #expect(bench.get("/authorize?response_type=code&client_id=unknown&redirect_uri=x")?.status == 400)
        #expect(bench.get("/authorize")?.status == 400)
    }

    @Test("an unknown path is 404, a wrong method 405")
    func paths() {
        let bench = Bench()
        #expect(bench.get("/v2/anything")?.status == 404)
        #expect(bench.get("/v1/oauth2/token")?.status == 405)
    }
}
