// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCrypto
import NativeJOSE
import NativeCurl
import NativeJSON
import Testing

@testable import IdentityTokens

private func word<Value>(_ verdict: IdentityVerdict<Value>, _ value: (Value) -> String) -> String {
    switch verdict {
    case .accepted(let accepted): value(accepted)
    case .refused(let fault): "\(fault)"
    case .cannotVerify(let algorithm): "cannot verify \(algorithm)"
    case .unavailable(let fault): "unavailable: \(fault)"
    }
}

@Suite struct ProviderIdentitiesTests {
    private let source = ScriptedDocuments()
    private let time = ManualTime()
    private let nothing = IDTokenRules.Asked(nonce: nil, maximumAge: nil, accessToken: nil)

    private func publish(issuer: String, _ jwks: JSONValue...) {
        source.answer(
            "https://op.test/.well-known/openid-configuration",
            .document(
                Array(#"{"issuer":"\#(issuer)","jwks_uri":"https://op.test/keys"}"#.utf8), lifetime: nil))
        source.answer("https://op.test/keys", .document(document(jwks), lifetime: nil))
    }

    private func identities(secret: ClientSecretMAC? = nil) throws -> ProviderIdentities {
        let rule = try #require(EndpointRule(issuer: "https://op.test", allowedHosts: []))
        let metadata = IssuerMetadata(
            issuer: "https://op.test", rule: rule, source: source, limits: .usual, time: time,
            launcher: DetachedLauncher(), tell: { _ in })
        let keys = IssuerKeys(
            at: { await metadata.place(.keys) }, source: source, limits: .usual, time: time,
            launcher: DetachedLauncher(), tell: { _ in })
        return ProviderIdentities(
            issuer: .discovered(metadata), keys: keys, clientID: "app1", trustedAudiences: [],
            algorithms: [.rs256, .es256, .hs256], secret: secret, time: time)
    }

    @Test("an ID token is held against the discovered issuer, byte for byte")
    func issuer() async throws {
        let issuer = try Issuer()
        let identities = try identities()
        #expect(
            word(await identities.check(idToken: SecretText(issuer.token(claims())), nothing), \.subject)
                == "unavailable: \(DocumentFault.status(404))")
        time.advance(by: .seconds(5))
        publish(issuer: "https://op.test/", issuer.jwk())
        let plain = SecretText(issuer.token(claims()))
        #expect(
            word(await identities.check(idToken: plain, nothing), \.subject)
                == "\(TokenFault.issuer(expected: "https://op.test/", isAlmost: true))")
        let slashed = SecretText(issuer.token(claims(["iss": "https://op.test/"])))
        #expect(word(await identities.check(idToken: slashed, nothing), \.subject) == "u1")
    }

    @Test("refreshed ID tokens and signed userinfo answers are about the same person")
    func others() async throws {
        let issuer = try Issuer()
        publish(issuer: "https://op.test", issuer.jwk())
        let identities = try identities()
        let token = SecretText(issuer.token(claims()))
        guard case .accepted(let first) = await identities.check(idToken: token, nothing) else {
            Issue.record("a good token was not accepted")
            return
        }
        let anchor = first.anchor(nonce: nil)
        let other = SecretText(issuer.token(claims(["sub": "u2"])))
        #expect(word(await identities.check(refreshed: token, anchor, accessToken: nil), \.subject) == "u1")
        #expect(
            word(await identities.check(refreshed: other, anchor, accessToken: nil), \.subject)
                == "\(TokenFault.subject)")
        let info = SecretText(issuer.token(["sub": "u1", "email": "a@x.test"], ["typ": "userinfo+jwt"]))
        #expect(
            word(await identities.check(userinfo: info, subject: "u1")) { $0.json["email"]?.string ?? "" } == "a@x.test"
        )
        #expect(word(await identities.check(userinfo: other, subject: "u1")) { _ in "" } == "\(TokenFault.subject)")
        let unsigned = SecretText(issuer.token(["sub": "u1"], ["alg": "none"]))
        #expect(word(await identities.check(userinfo: unsigned, subject: nil)) { _ in "" } == "\(TokenFault.unsigned)")
    }

    @Test("HS256 needs the client's secret, and no key")
    func secret() async throws {
        let secret = Array("0123456789abcdef0123456789abcdef".utf8)
        let message = [Array(#"{"alg":"HS256"}"#.utf8), claims().serialized(.compact)]
            .map { Base64.urlSafe.text(of: $0) }.joined(separator: ".")
        let mac = try HMACSHA256(key: SecretBytes(secret)).mac(Array(message.utf8))
        let token = SecretText(message + "." + Base64.urlSafe.text(of: mac))
        publish(issuer: "https://op.test")
        #expect(
            word(await (try identities()).check(idToken: token, nothing), \.subject)
                == "\(TokenFault.algorithm("HS256"))")
        let allowed = try identities(secret: ClientSecretMAC(secret: secret))
        #expect(word(await allowed.check(idToken: token, nothing), \.subject) == "u1")
        #expect(!source.asked.contains("https://op.test/keys"))
    }
}

@Suite struct CallerTokensTests {
    private let time = ManualTime()

    private func entry(_ issuer: Issuer, _ name: String, audience: String, prefix: String) -> CallerTokens.Entry {
        CallerTokens.Entry(
            rules: CallerTokenRules(
                issuer: name, audience: audience, algorithms: [.es256], type: nil, subjectClaim: "sub",
                subjectPrefix: prefix),
            keys: IssuerKeys(keySet(issuer.jwk()), time: time))
    }

    @Test("each issuer and audience speaks for its own users, with its own keys")
    func entries() async throws {
        let (first, second) = (try Issuer(), try Issuer())
        let callers = CallerTokens(
            [
                entry(first, "https://a.test", audience: "g", prefix: "a:"),
                entry(second, "https://b.test", audience: "g", prefix: "b:"),
                entry(second, "https://b.test", audience: "h", prefix: "c:"),
            ], time: time)
        func ask(_ issuer: Issuer, _ name: String, _ audience: JSONValue) async -> String {
            let token = issuer.token(claims(["iss": JSONValue(name), "aud": audience]))
            return word(await callers.caller(SecretText(token)), \.text)
        }
        #expect(await ask(first, "https://a.test", "g") == "a:u1")
        #expect(await ask(second, "https://b.test", "g") == "b:u1")
        #expect(await ask(second, "https://b.test", ["x", "h"]) == "c:u1")
        #expect(await ask(first, "https://b.test", "g") == "\(TokenFault.signature)")
        #expect(await ask(second, "https://a.test", "g") == "\(TokenFault.signature)")
        #expect(await ask(first, "https://a.test", "h") == "\(TokenFault.audience)")
        #expect(await ask(first, "https://c.test", "g").hasPrefix("iss is"))
        for junk in ["", "cgk_backend_x", "a.b.c", "e30.W10.AA"] {
            guard case .refused = await callers.caller(SecretText(junk)) else {
                Issue.record("junk was taken")
                continue
            }
        }
    }

    @Test("thousands of made-up issuers and key names are refused at once, fetch nothing and keep nobody waiting")
    func flood() async throws {
        let (issuer, stranger, source) = (try Issuer(), try Issuer(), ScriptedDocuments())
        let place = "https://a.test/keys"
        source.answer(place, .document(document([issuer.jwk()]), lifetime: nil))
        let keys = IssuerKeys(
            at: { .success(ProviderURL(text: place, addresses: .any)) }, source: source, limits: .usual, time: time,
            launcher: DetachedLauncher(), tell: { _ in })
        let rules = CallerTokenRules(
            issuer: "https://a.test", audience: "g", algorithms: [.es256], type: nil, subjectClaim: "sub",
            subjectPrefix: "")
        let callers = CallerTokens([CallerTokens.Entry(rules: rules, keys: keys)], time: time)
        func session(_ signer: Issuer, _ name: String, _ header: JSONValue = [:]) -> SecretText {
            SecretText(signer.token(claims(["iss": JSONValue(name), "aud": "g"]), header))
        }
        let good = session(issuer, "https://a.test")
        #expect(word(await callers.caller(good), \.text) == "u1")
        for minute in 0..<3 {
            for number in 0..<1000 {
                let made = session(stranger, "https://\(number).test")
                let named = session(stranger, "https://a.test", ["kid": JSONValue("k-\(minute)-\(number)")])
                for token in [made, named] {
                    guard case .refused = await callers.caller(token) else {
                        Issue.record("\(number) was not refused")
                        continue
                    }
                }
                guard case .accepted? = callers.callerAtOnce(good) else {
                    Issue.record("a user waits for strangers")
                    continue
                }
            }
            #expect(source.asked.count == minute + 1)
            time.advance(by: .seconds(61))
        }
    }
}
