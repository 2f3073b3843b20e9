// SPDX-License-Identifier: Apache-2.0
import NativeCrypto
import NativeJOSE
import NativeJSON
import SimulatedProvider
import Testing

@Suite("ID tokens of the simulated provider")
struct IDTokenTests {
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    private static func bench(_ signing: IDTokenSigning = .es256, signsUserinfo: Bool = false) throws -> Bench {
        let keys = try SigningKeys(signing)
        return Bench {
            $0.signingKeys = keys
            $0.signsUserinfo = signsUserinfo
        }
    }

    private static func tokens(_ bench: Bench, fault: String? = nil) throws -> Bench.Reply {
        let member = fault.map { ",\"fault\":\"\($0)\"" } ?? ""
        let body = #"{"person":"alice","nonce":"n-1","code_challenge":"\#(challenge)"\#(member)}"#
        let code = try #require(bench.control("/simulator/codes", body)?.text("code"))
        return try #require(
            bench.post(
                "/token", ["grant_type": "authorization_code", "code": code, "code_verifier": verifier]))
    }

    private static func refreshed(_ bench: Bench, _ tokens: Bench.Reply) -> Bench.Reply? {
        bench.post("/token", ["grant_type": "refresh_token", "refresh_token": tokens.text("refresh_token") ?? ""])
    }

    private static func part(_ index: Int, of token: String) -> JSONValue? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        return Base64.urlSafe.bytes(of: String(parts[index])).flatMap { try? JSONValue.parse($0, as: .callers) }
    }

    /// Whether the key of the key set that the token names has signed it.
    private static func isSigned(_ token: String, _ bench: Bench) -> Bool {
        guard let jws = try? CompactJWS(token), let header = part(0, of: token),
            let algorithm = header["alg"]?.string.flatMap({ JOSEAlgorithm(name: $0) }),
            let set = bench.get("/jwks")?.json,
            let jwk = set["keys"]?.array?.first(where: { $0["kid"] == header["kid"] }),
            let key = try? JSONWebKey(jwk)
        else { return false }
        return key.key.verifies(jws, as: algorithm)
    }

    @Test("a code brings one that a published key has signed", arguments: [IDTokenSigning.es256, .rs256])
    func exchange(signing: IDTokenSigning) throws {
        let bench = try Self.bench(signing)
        let tokens = try Self.tokens(bench)
        let text = try #require(tokens.text("id_token"))
        #expect(Self.isSigned(text, bench))
        let claims = try #require(Self.part(1, of: text))
        #expect(claims["iss"]?.string == "http://127.0.0.1" && claims["aud"]?.string == "simulated-client")
        #expect(claims["nonce"]?.string == "n-1")
        let now = bench.now / 1000
        #expect(claims["iat"]?.integer == now && claims["exp"]?.integer == now + 3600)
        let digest = sha256(tokens.text("access_token") ?? "")
        #expect(claims["at_hash"]?.string == Base64.urlSafe.text(of: Array(digest.prefix(16))))
        let profile = bench.get("/userinfo", bearer: tokens.text("access_token"))
        #expect(profile?.text("sub") == claims["sub"]?.string)
        let discovery = bench.get("/.well-known/openid-configuration")?.json
        #expect(discovery?["id_token_signing_alg_values_supported"]?[0]?.string == signing.rawValue)
    }

    @Test("a refresh brings one of the same person and sign-in, without the nonce")
    func refresh() throws {
        let bench = try Self.bench()
        let tokens = try Self.tokens(bench)
        let first = try #require(Self.part(1, of: tokens.text("id_token") ?? ""))
        bench.now += 60_000
        let text = try #require(Self.refreshed(bench, tokens)?.text("id_token"))
        #expect(Self.isSigned(text, bench))
        let second = try #require(Self.part(1, of: text))
        #expect(second["sub"] == first["sub"] && second["auth_time"] == first["auth_time"])
        #expect(second["nonce"] == nil && second["iat"]?.integer == bench.now / 1000)
        #expect(second["at_hash"] != first["at_hash"])
    }

    @Test("none without the scope openid, at PayPal's endpoints, and without keys")
    func none() throws {
        let bench = try Self.bench()
        let code = try #require(bench.control("/simulator/codes", #"{"scopes":["email"]}"#)?.text("code"))
        let form: (String) -> KeyValuePairs<String, String> = { ["grant_type": "authorization_code", "code": $0] }
        let tokens = try #require(bench.post("/token", form(code)))
        #expect(tokens.status == 200 && tokens.text("id_token") == nil)
        #expect(bench.redeem(bench.code())?.text("id_token") == nil)
        let plain = Bench()
        #expect(plain.post("/token", form(plain.code()))?.text("id_token") == nil)
        #expect(plain.control("/simulator/keys", "")?.status == 409)
    }

    @Test("a code with a challenge wants its verifier")
    func challenge() throws {
        let bench = try Self.bench()
        let body = "{\"code_challenge\":\"\(Self.challenge)\"}"
        let code = try #require(bench.control("/simulator/codes", body)?.text("code"))
        #expect(bench.post("/token", ["grant_type": "authorization_code", "code": code])?.status == 400)
    }

    @Test("the authorization page's nonce comes back")
    func authorization() throws {
        let bench = try Self.bench()
        let page = bench.get(
            "/authorize?response_type=code&client_id=simulated-client&redirect_uri=app%3Aback&nonce=n-2&scope=openid")
        let query = (page?.field("Location") ?? "").utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst()
        let code = try #require(FormPairs(Array(query))["code"])
        let tokens = bench.post(
            "/token", ["grant_type": "authorization_code", "code": code, "redirect_uri": "app:back"])
        #expect(Self.part(1, of: tokens?.text("id_token") ?? "")?["nonce"]?.string == "n-2")
    }

    @Test("a new key signs from now on; the old one stays in the key set, or does not")
    func rotation() throws {
        let bench = try Self.bench()
        let old = try #require(try Self.tokens(bench).text("id_token"))
        #expect(bench.control("/simulator/keys", "")?.json?["keys"]?.count == 2)
        let new = try #require(try Self.tokens(bench).text("id_token"))
        #expect(Self.part(0, of: new)?["kid"] != Self.part(0, of: old)?["kid"])
        #expect(Self.isSigned(new, bench) && Self.isSigned(old, bench))
        #expect(bench.control("/simulator/keys", #"{"keep":false}"#)?.json?["keys"]?.count == 1)
        #expect(!Self.isSigned(new, bench))
        for _ in 0..<5 { _ = bench.control("/simulator/keys", #"{"keep":true}"#) }
        #expect(bench.get("/jwks")?.json?["keys"]?.count == 3)
        #expect(bench.control("/simulator/keys", #"{"keep":1}"#)?.status == 400)
    }

    @Test("a signed profile is userinfo's, for this client")
    func signedUserinfo() throws {
        let bench = try Self.bench(signsUserinfo: true)
        let tokens = try Self.tokens(bench)
        let reply = try #require(bench.get("/userinfo", bearer: tokens.text("access_token")))
        #expect(reply.field("Content-Type") == "application/jwt")
        let text = String(decoding: reply.body, as: UTF8.self)
        #expect(Self.isSigned(text, bench))
        let claims = try #require(Self.part(1, of: text))
        #expect(claims["aud"]?.string == "simulated-client" && claims["email"]?.string == "alice@example.test")
    }

    /// What a fault makes of the claims: a claim and its text.
    @Test(
        "a fault changes what an ID token claims, which is signed all the same",
        arguments: [
            ("id_token_issuer", "iss", #""http://127.0.0.1/""#), ("id_token_audience", "aud", #""another-client""#),
            ("id_token_audiences", "aud", #"["simulated-client","another-client"]"#),
            ("id_token_party", "azp", #""another-client""#), ("id_token_subject_missing", "sub", nil),
            ("id_token_nonce", "nonce", #""another-nonce""#), ("id_token_nonce_missing", "nonce", nil),
            ("id_token_expired=10", "exp", "1767225590"), ("id_token_early", "nbf", "1767229200"),
        ])
    func claims(fault: String, claim: String, value: String?) throws {
        let bench = try Self.bench()
        let text = try #require(try Self.tokens(bench, fault: fault).text("id_token"))
        #expect(Self.isSigned(text, bench))
        let found = Self.part(1, of: text)?[claim].map { String(decoding: $0.serialized(.compact), as: UTF8.self) }
        #expect(found == value)
    }

    @Test(
        "a fault in the signature is one that no key of the key set has made",
        arguments: [
            ("id_token_kid", "ES256"), ("id_token_key", "ES256"), ("id_token_altered", "ES256"),
            ("id_token_alg_none", "none"), ("id_token_hs256", "HS256"), ("id_token_embedded_key", "ES256"),
        ])
    func signatures(fault: String, algorithm: String) throws {
        let bench = try Self.bench()
        let text = try #require(try Self.tokens(bench, fault: fault).text("id_token"))
        #expect(Self.part(0, of: text)?["alg"]?.string == algorithm)
        #expect(!Self.isSigned(text, bench))
        // The next is whole again.
        #expect(Self.isSigned(try Self.tokens(bench).text("id_token") ?? "", bench))
    }

    @Test("a fault may change keys in the middle of an exchange, strike a refresh alone, or leave the token out")
    func places() throws {
        let bench = try Self.bench()
        let before = bench.get("/jwks")?.body
        let rotated = try #require(try Self.tokens(bench, fault: "keys_rotated").text("id_token"))
        #expect(Self.isSigned(rotated, bench) && bench.get("/jwks")?.body != before)
        let tokens = try Self.tokens(bench, fault: "id_token_subject@refresh")
        let first = Self.part(1, of: tokens.text("id_token") ?? "")
        let second = Self.part(1, of: Self.refreshed(bench, tokens)?.text("id_token") ?? "")
        #expect(first?["sub"] != nil && second?["sub"] != nil && first?["sub"] != second?["sub"])
        #expect(try Self.tokens(bench, fault: "id_token_missing").text("id_token") == nil)
        #expect(try Self.tokens(bench, fault: "id_token_garbage").text("id_token") == "not.a.jwt")
    }

    @Test("faults of the key set and of discovery are for everybody, and each strikes its own document")
    func documents() throws {
        let bench = try Self.bench()
        func set(_ fault: String) { _ = bench.control("/simulator/faults", "{\"fault\":\"\(fault)\",\"times\":1}") }
        set("unavailable@jwks")
        #expect(bench.get("/.well-known/openid-configuration")?.status == 200)
        #expect(bench.get("/jwks")?.status == 503)
        set("jwks_empty")
        #expect(bench.get("/jwks")?.json?["keys"]?.count == 0)
        set("jwks_odd")
        #expect(bench.get("/jwks")?.json?["keys"]?.count == 4)
        set("jwks_page")
        #expect(bench.get("/jwks")?.json == nil)
        set("discovery_issuer")
        #expect(bench.get("/.well-known/openid-configuration")?.text("issuer") == "https://another.example")
        #expect(bench.get("/jwks")?.json?["keys"]?.count == 1)
    }
}
