// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCrypto
import NativeJOSE
import NativeJSON
import Testing

@testable import IdentityTokens

private func verified(_ claims: JSONValue) throws -> VerifiedToken {
    VerifiedToken(algorithm: .es256, claims: try ClaimSet(claims.serialized(.compact)))
}

@Suite struct UserinfoRulesTests {
    private let rules = UserinfoRules(issuer: Issuer.url, clientID: Issuer.client)

    private func fault(_ claims: JSONValue, subject: String? = "u1") throws -> TokenFault? {
        let token = try verified(claims)
        do throws(TokenFault) {
            _ = try rules.check(token, subject: subject, now: now)
            return nil
        } catch { return error }
    }

    @Test("sub must be there and the same; issuer, audience and times are checked where they are there")
    func table() throws {
        #expect(try fault(["sub": "u1"]) == nil)
        #expect(try fault(["sub": "u1"], subject: nil) == nil)
        #expect(try fault(["sub": "u2"]) == .subject)
        #expect(try fault([:]) == .missing(.sub))
        #expect(try fault(["sub": "u1", "iss": JSONValue(Issuer.url), "aud": ["x", "app1"]]) == nil)
        #expect(try fault(["sub": "u1", "iss": "https://evil.test"]) == .issuer(Issuer.url, "https://evil.test"))
        #expect(try fault(["sub": "u1", "aud": "app2"]) == .audience)
        #expect(try fault(["sub": "u1", "exp": JSONValue(seconds - 61)]) == .expired)
        #expect(try fault(["sub": "u1", "iat": JSONValue(seconds + 61)]) == .issuedInFuture)
        #expect(try fault(["sub": "u1", "nbf": JSONValue(seconds + 61)]) == .notYetValid)
    }
}

@Suite struct CallerTokenRulesTests {
    private var rules = CallerTokenRules(
        issuer: Issuer.url, audience: "gateway", algorithms: [.es256, .hs256], type: nil, subjectClaim: "sub",
        subjectPrefix: "shop:")

    private func outcome(_ changes: JSONValue, _ rules: CallerTokenRules) throws -> Result<String, TokenFault> {
        var base = claims(["aud": "gateway"])
        for (name, value) in changes.members { base.set(name, value) }
        let token = try verified(base)
        do throws(TokenFault) { return .success(try rules.check(token, now: now).text) } catch {
            return .failure(error)
        }
    }

    @Test("a session names the merchant's user, with the issuer's prefix")
    func subject() throws {
        #expect(try outcome([:], rules) == .success("shop:u1"))
        #expect(try outcome(["aud": ["other", "gateway"]], rules) == .success("shop:u1"))
        #expect(try outcome(["iat": nil], rules) == .success("shop:u1"))
        let long = String(repeating: "s", count: 250)
        #expect(try outcome(["sub": JSONValue(long)], rules) == .success("shop:" + long))
        var named = rules
        named.subjectClaim = "user_id"
        #expect(try outcome(["user_id": "é"], named) == .success("shop:é"))
        #expect(try outcome([:], named) == .failure(.missing(.configuredSubject)))
    }

    @Test("audience, expiry and a life of a day at most are required")
    func table() throws {
        for (changes, fault) in [
            (["iss": "x"], .issuer(Issuer.url, "x")), (["aud": nil], .missing(.aud)), (["aud": "app1"], .audience),
            (["exp": nil], .missing(.exp)), (["exp": JSONValue(seconds - 60)], .expired),
            (["nbf": JSONValue(seconds + 61)], .notYetValid), (["iat": JSONValue(seconds + 61)], .issuedInFuture),
            (["exp": JSONValue(seconds + 86_401)], .lifetime), (["exp": 1e300], .lifetime),
            (["iat": nil, "exp": JSONValue(seconds + 86_461)], .lifetime),
            (["iat": JSONValue(seconds - 86_000), "exp": JSONValue(seconds + 500)], .lifetime),
            (["iat": -1e300], .lifetime), (["sub": nil], .missing(.configuredSubject)),
            (["sub": 7], .malformed(.configuredSubject)), (["sub": ""], .malformed(.configuredSubject)),
            (["sub": "a\u{7}"], .malformed(.configuredSubject)),
            (["sub": JSONValue(String(repeating: "s", count: 251))], .malformed(.configuredSubject)),
        ] as [(JSONValue, TokenFault)] {
            #expect(try outcome(changes, rules) == .failure(fault), "\(fault)")
        }
        #expect(try outcome(["exp": JSONValue(seconds + 86_400)], rules) == .success("shop:u1"))
    }

    @Test("a session that is bound to a key is none, whatever the way in which it names the key")
    func bound() throws {
        let keys: [JSONValue] = [
            ["jkt": "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"],
            ["x5t#S256": "bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2"], ["jwk": ["kty": "EC"]], ["kid": "k1"],
            ["other": 1], [:], "text", false,
        ]
        for key in keys { #expect(try outcome(["cnf": key], rules) == .failure(.boundToKey)) }
        #expect(try outcome(["cnf": nil], rules) == .success("shop:u1"))
    }

    @Test("HS256 is never a caller's, and the configured type is required")
    func policy() throws {
        #expect(rules.policy.algorithms == [.es256] && rules.policy.secret == nil)
        let issuer = try Issuer()
        let keys = keySet(issuer.jwk())
        var typed = rules
        typed.type = "at+jwt"
        for (type, isTaken) in [("at+jwt", true), ("application/AT+JWT", true), ("JWT", false)] {
            let token = issuer.token(claims(), ["typ": JSONValue(type)])
            let verdict = TokenVerification(typed.policy).verify(token, with: keys, keysAreFresh: true)
            #expect(word(verdict) == (isTaken ? "verified" : "\(TokenFault.type)"))
        }
        let bare = TokenVerification(typed.policy).verify(issuer.token(claims()), with: keys, keysAreFresh: true)
        #expect(word(bare) == "\(TokenFault.type)")
    }
}

@Suite struct ClientAssertionTests {
    @Test("an assertion is the client's own word for one minute, another one each time")
    func assertion() throws {
        let key = try AssertionKey(pem: Array(pem.utf8))
        let maker = ClientAssertion(key: key, clientID: "c1", audience: "https://op.test/token")
        let texts = ["a", "b"].map { maker.make(now: now, id: $0).reveal() }
        #expect(texts[0] != texts[1])
        let keys = keySet(key.publicJWK)
        let verdict = TokenVerification(plain).verify(texts[0], with: keys, keysAreFresh: false)
        guard case .verified(let token) = verdict else {
            Issue.record("\(word(verdict))")
            return
        }
        #expect(
            token.claims.json == [
                "iss": "c1", "sub": "c1", "aud": "https://op.test/token", "jti": "a", "iat": JSONValue(seconds),
                "exp": JSONValue(seconds + 60),
            ])
    }
}

/// A key on P-256 that was made for this test.
private let pem = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgdmAPvMsHNPK1XJTc
    ASG2CRuXE2YrrOhDjIH3MxEvmxGhRANCAASiF3tRytaPB8CgVn/ZBrvjEpb20GX5
    0Z27DSpwg0ExFyebZrKQJVtxZYQ+YG/xwp8oFowiVZV1Sema2L3aT3Mj
    -----END PRIVATE KEY-----
    """
