// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCrypto
import NativeJOSE
import NativeJSON
import Testing

@testable import IdentityTokens

private let rules = IDTokenRules(issuer: Issuer.url, clientID: Issuer.client, trustedAudiences: ["urn:trusted"])
private let nothing = IDTokenRules.Asked(nonce: nil, maximumAge: nil, accessToken: nil)

/// A token that was verified, with those claims.
private func verified(_ claims: JSONValue, _ algorithm: JOSEAlgorithm = .es256) throws -> VerifiedToken {
    VerifiedToken(algorithm: algorithm, claims: try ClaimSet(claims.serialized(.compact)))
}

private func fault(_ changes: JSONValue, _ asked: IDTokenRules.Asked = nothing) throws -> TokenFault? {
    let token = try verified(claims(changes))
    do throws(TokenFault) {
        _ = try rules.check(token, asked, now: now)
        return nil
    } catch { return error }
}

/// One row of the table of claims.
private struct Row: Sendable, CustomTestStringConvertible {
    let changes: JSONValue
    let fault: TokenFault?
    var testDescription: String { String(decoding: changes.serialized(.compact), as: UTF8.self) }

    init(_ changes: JSONValue, _ fault: TokenFault?) { (self.changes, self.fault) = (changes, fault) }
}

private let rows: [Row] = [
    Row([:], nil),
    Row(["iss": "https://op.test/"], .issuer(expected: "https://op.test", isAlmost: true)),
    Row(["iss": "HTTPS://op.test"], .issuer(expected: "https://op.test", isAlmost: true)),
    Row(["iss": "a\u{1}b"], .issuer(expected: "https://op.test", isAlmost: false)),
    Row(["iss": nil], .missing(.iss)), Row(["iss": ["https://op.test"]], .malformed(.iss)),
    Row(["sub": nil], .missing(.sub)), Row(["sub": ""], .malformed(.sub)), Row(["sub": 7], .malformed(.sub)),
    Row(["sub": "a\nb"], .malformed(.sub)), Row(["sub": JSONValue(String(repeating: "s", count: 255))], nil),
    Row(["sub": JSONValue(String(repeating: "s", count: 256))], .malformed(.sub)),
    Row(["aud": nil], .missing(.aud)), Row(["aud": ["app1"]], nil), Row(["aud": []], .malformed(.aud)),
    Row(["aud": "app2"], .audience), Row(["aud": "App1"], .audience), Row(["aud": ["app2", "x"]], .audience),
    Row(["aud": ["app1", 7]], .malformed(.aud)), Row(["aud": ["a": "app1"]], .malformed(.aud)),
    Row(["aud": ["app1", "urn:x"]], .untrustedAudience), Row(["aud": ["app1", "urn:trusted"]], nil),
    Row(["aud": ["app1", "urn:x"], "azp": "app1"], nil),
    Row(["aud": ["app1", "urn:x"], "azp": "urn:x"], .authorizedParty), Row(["azp": "app1"], nil),
    Row(["azp": "other"], .authorizedParty), Row(["azp": 1], .malformed(.azp)), Row(["azp": nil], nil),
    Row(["exp": nil], .missing(.exp)), Row(["exp": "1767323345"], .malformed(.exp)),
    Row(["exp": true], .malformed(.exp)), Row(["exp": JSONValue(seconds - 59)], nil),
    Row(["exp": JSONValue(seconds - 60)], .expired), Row(["exp": 0], .expired), Row(["exp": -1e300], .expired),
    Row(["exp": JSONValue(Double(seconds) - 59.5)], nil), Row(["exp": JSONValue(Double(seconds) - 60.5)], .expired),
    Row(["exp": 1e300], nil), Row(["exp": 9_223_372_036_854_775_807], nil),
    Row(["nbf": JSONValue(seconds + 60)], nil), Row(["nbf": JSONValue(seconds + 61)], .notYetValid),
    Row(["nbf": "x"], .malformed(.nbf)), Row(["iat": nil], .missing(.iat)),
    Row(["iat": JSONValue(seconds + 5)], nil), Row(["iat": JSONValue(seconds + 60)], nil),
    Row(["iat": JSONValue(seconds + 61)], .issuedInFuture), Row(["iat": JSONValue(seconds + 600)], .issuedInFuture),
    Row(["iat": 1e300], .issuedInFuture), Row(["iat": 1.5], nil), Row(["iat": []], .malformed(.iat)),
    Row(["nonce": "whatever"], nil), Row(["auth_time": "x"], .malformed(.authTime)),
]

@Suite struct IDTokenRulesTests {
    @Test("the table of claims", arguments: rows)
    fileprivate func table(_ row: Row) throws { #expect(try fault(row.changes) == row.fault) }

    @Test("what the token says comes out as it stands there")
    func values() throws {
        let token = try verified(claims(["aud": ["app1"], "azp": "app1", "auth_time": JSONValue(seconds - 9)]))
        let identity = try rules.check(token, nothing, now: now)
        #expect(identity.subject == "u1" && identity.issuer == Issuer.url && identity.audiences == ["app1"])
        #expect(identity.authorizedParty == "app1" && identity.issuedAt == now)
        #expect(identity.expiresAt == now.advanced(by: .seconds(300)))
        #expect(identity.authenticatedAt == now.advanced(by: .seconds(-9)))
        #expect("\(identity)" == "an ID token" && Mirror(reflecting: identity).children.isEmpty)
    }

    @Test("a nonce that was given must be there and the same")
    func nonce() throws {
        let asked = IDTokenRules.Asked(nonce: SecretText("n-1"), maximumAge: nil, accessToken: nil)
        #expect(try fault(["nonce": "n-1"], asked) == nil)
        #expect(try fault([:], asked) == .missing(.nonce))
        #expect(try fault(["nonce": nil], asked) == .missing(.nonce))
        #expect(try fault(["nonce": "n-2"], asked) == .nonce)
        #expect(try fault(["nonce": "n-11"], asked) == .nonce)
        #expect(try fault(["nonce": ""], asked) == .nonce)
        #expect(try fault(["nonce": ["n-1"]], asked) == .malformed(.nonce))
    }

    @Test("at_hash, where it is there, is the left half of the access token's digest by the token's own algorithm")
    func accessTokenHash() throws {
        // OpenID Connect Core, A.3.
        let asked = IDTokenRules.Asked(
            nonce: nil, maximumAge: nil, accessToken: SecretText("jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y"))
        #expect(try fault(["at_hash": "77QmUPtjPfzWtF2AnpK9RQ"], asked) == nil)
        #expect(try fault(["at_hash": "77QmUPtjPfzWtF2AnpK9RR"], asked) == .accessTokenHash)
        #expect(try fault(["at_hash": ""], asked) == .accessTokenHash)
        #expect(try fault(["at_hash": 7], asked) == .malformed(.atHash))
        #expect(try fault([:], asked) == nil)
        for (algorithm, digest) in [(JOSEAlgorithm.rs384, DigestAlgorithm.sha384), (.edDSA, .sha512)] {
            let half = digest.digest(of: Array("AT".utf8)).prefix(digest.length / 2)
            let token = try verified(
                claims(["at_hash": JSONValue(Base64.urlSafe.text(of: Array(half)))]), algorithm)
            _ = try rules.check(
                token, IDTokenRules.Asked(nonce: nil, maximumAge: nil, accessToken: SecretText("AT")), now: now)
        }
    }

    @Test("auth_time is looked at where a maximal age was asked for")
    func authentication() throws {
        let asked = IDTokenRules.Asked(nonce: nil, maximumAge: .seconds(300), accessToken: nil)
        #expect(try fault([:], asked) == .missing(.authTime))
        #expect(try fault(["auth_time": JSONValue(seconds - 360)], asked) == nil)
        #expect(try fault(["auth_time": JSONValue(seconds - 361)], asked) == .authenticationTooOld)
        #expect(try fault(["auth_time": JSONValue(seconds + 61)], asked) == .issuedInFuture)
        #expect(try fault(["auth_time": -1e300], asked) == .authenticationTooOld)
    }

    @Test("no fault repeats anything of the token but its issuer")
    func sentences() {
        for row in rows {
            guard let fault = row.fault else { continue }
            #expect("\(fault)".utf8.count < 500 && !"\(fault)".contains("u1"))
        }
    }
}

@Suite struct RefreshedIDTokenTests {
    private let first = IDTokenAnchor(
        issuer: Issuer.url, subject: "u1", audiences: ["app1"], authorizedParty: nil, nonce: SecretText("n"))

    private func fault(_ changes: JSONValue, _ first: IDTokenAnchor) throws -> TokenFault? {
        let token = try verified(claims(changes))
        do throws(TokenFault) {
            _ = try rules.checkRefreshed(token, first, accessToken: nil, now: now)
            return nil
        } catch { return error }
    }

    @Test("a refreshed ID token is about the same person, client and party")
    func table() throws {
        #expect(try fault([:], first) == nil)
        #expect(try fault(["nonce": "n"], first) == nil)
        #expect(try fault(["nonce": "m"], first) == .nonce)
        #expect(try fault(["sub": "u2"], first) == .subject)
        #expect(try fault(["iat": JSONValue(seconds + 600)], first) == .issuedInFuture)
        #expect(try fault(["iss": "https://other.test"], first) == .issuer(Issuer.url, "https://other.test"))
        #expect(try fault(["azp": "app1"], first) == .authorizedParty)
        #expect(try fault(["aud": ["app1", "urn:trusted"]], first) == nil)
        var wider = first
        wider.audiences = ["app1", "urn:trusted"]
        wider.authorizedParty = "app1"
        #expect(try fault(["azp": "app1"], wider) == .audience)
        #expect(try fault(["aud": ["urn:trusted", "app1"], "azp": "app1"], wider) == nil)
        #expect(try fault(["aud": ["urn:trusted", "app1"]], wider) == .authorizedParty)
    }

    @Test("of what was not kept nothing is compared")
    func unknown() throws {
        let anchor = IDTokenAnchor(
            issuer: Issuer.url, subject: "u1", audiences: nil, authorizedParty: nil, nonce: nil)
        #expect(try fault(["azp": "app1", "nonce": "any"], anchor) == nil)
        #expect(try fault(["sub": "u2"], anchor) == .subject)
    }

    @Test("an anchor made of a token takes the same token again")
    func anchor() throws {
        let token = try verified(claims(["aud": ["app1", "urn:x"], "azp": "app1"]))
        let kept = try rules.check(token, nothing, now: now).anchor(nonce: nil)
        _ = try rules.checkRefreshed(token, kept, accessToken: nil, now: now)
    }
}

@Suite struct TypeRuleTests {
    @Test("a type that names another kind of token is refused, whatever its case and prefix")
    func types() {
        let rule = TypeRule.unnamed(or: ["at+jwt"])
        for type in [nil, "JWT", "jwt", "application/jwt", "AT+JWT", "application/at+jwt"] {
            #expect(rule.allows(type))
        }
        for type in ["logout+jwt", "application/secevent+jwt", "dpop+JWT"] { #expect(!rule.allows(type)) }
        #expect(TypeRule.exactly("at+jwt").allows("application/AT+jwt"))
        for type in [nil, "JWT", "at-jwt", "at+jwt "] { #expect(!TypeRule.exactly("at+jwt").allows(type)) }
    }
}
