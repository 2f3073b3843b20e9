// SPDX-License-Identifier: Apache-2.0
import NativeCrypto
import NativeJOSE
import NativeJSON
import Testing

@testable import IdentityTokens

/// The attacks of RFC 8725, section 2, and their kin.
@Suite struct TokenVerificationTests {
    private let issuer: Issuer
    private let keys: JSONWebKeySet

    init() throws {
        issuer = try Issuer()
        keys = keySet(issuer.jwk())
    }

    private func judge(_ token: String, _ policy: TokenPolicy = plain, fresh: Bool = false) -> String {
        word(TokenVerification(policy).verify(token, with: keys, keysAreFresh: fresh))
    }

    @Test("a token of the issuer is verified")
    func good() {
        #expect(judge(issuer.token(claims())) == "verified")
        #expect(judge(issuer.token(claims(), ["typ": "JWT", "x5t": "AA", "cty": "x"])) == "verified")
    }

    @Test("alg none is refused in every spelling, signed or not", arguments: ["none", "None", "NONE", "nOnE"])
    func unsigned(_ name: String) {
        let token = issuer.token(claims(), ["alg": JSONValue(name)])
        #expect(judge(token) == "\(TokenFault.unsigned)")
        let bare = token.prefix(through: token.lastIndex(of: ".") ?? token.startIndex)
        #expect(judge(String(bare)) == "\(TokenFault.unsigned)")
    }

    @Test("a public key is never the secret of HS256")
    func confusion() throws {
        // What everybody knows of the key, in the forms in which it may lie about.
        let jwk = String(decoding: issuer.jwk().serialized(.compact), as: UTF8.self)
        for secret in [jwk, "-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----\n"] {
            let message = [#"{"alg":"HS256","kid":"k1"}"#, "{}"].map { Base64.urlSafe.text(of: Array($0.utf8)) }
                .joined(separator: ".")
            let mac = try HMACSHA256(key: SecretBytes(Array(secret.utf8))).mac(Array(message.utf8))
            let token = message + "." + Base64.urlSafe.text(of: mac)
            #expect(judge(token) == "\(TokenFault.algorithm("HS256"))")
            var careless = plain
            careless.algorithms.insert(.hs256)
            #expect(judge(token, careless) == "\(TokenFault.algorithm("HS256"))")
            #expect(throws: SecretRefusal.self) { try ClientSecretMAC(secret: Array(secret.utf8)) }
        }
    }

    @Test("HS256 with the client's secret is taken where it is allowed, and HS384 never")
    func secret() throws {
        let secret = Array("0123456789abcdef0123456789abcdef".utf8)
        let message = [#"{"alg":"HS256"}"#, #"{"sub":"u"}"#].map { Base64.urlSafe.text(of: Array($0.utf8)) }
            .joined(separator: ".")
        let mac = try HMACSHA256(key: SecretBytes(secret)).mac(Array(message.utf8))
        let token = message + "." + Base64.urlSafe.text(of: mac)
        let policy = TokenPolicy(
            algorithms: [.hs256], secret: try ClientSecretMAC(secret: secret), types: .unnamed(or: []))
        #expect(judge(token, policy) == "verified")
        #expect(judge(String(token.dropLast(4)), policy) == "\(TokenFault.code)")
        #expect(judge(issuer.token(claims()), policy) == "\(TokenFault.algorithm("ES256"))")
        #expect(judge(issuer.token(claims(), ["alg": "HS384"]), policy) == "\(TokenFault.algorithm("HS384"))")
    }

    @Test("a key that the header brings is never used", arguments: ["jwk", "jku", "x5u", "x5c"])
    func embedded(_ member: String) throws {
        let attacker = try Issuer()
        let value: JSONValue = member == "jwk" ? attacker.jwk() : "https://evil.test/keys"
        let token = attacker.token(claims(), JSONValue(dictionaryLiteral: (member, value)))
        #expect(judge(token) == "\(TokenFault.embeddedKey)")
        let own = issuer.token(claims(), JSONValue(dictionaryLiteral: (member, value)))
        #expect(judge(own) == "\(TokenFault.embeddedKey)")
    }

    @Test("crit and b64 are refused, whatever they say")
    func extensions() {
        #expect(judge(issuer.token(claims(), ["crit": ["exp"]])) == "\(TokenFault.extended)")
        #expect(judge(issuer.token(claims(), ["crit": []])) == "\(TokenFault.extended)")
        #expect(judge(issuer.token(claims(), ["b64": true])) == "\(TokenFault.extended)")
        #expect(judge(issuer.token(claims(), ["b64": false, "crit": ["b64"]])) == "\(TokenFault.extended)")
    }

    @Test("a kid is compared and does nothing else")
    func injection() {
        for kid in ["../../dev/null", "k1' OR '1'='1", "K1", "", "k1 ", String(repeating: "k", count: 512)] {
            #expect(judge(issuer.token(claims(), ["kid": JSONValue(kid)])) == "unknown key")
            #expect(judge(issuer.token(claims(), ["kid": JSONValue(kid)]), fresh: true) == "\(TokenFault.unknownKey)")
        }
        #expect(judge(issuer.token(claims(), ["kid": 7])) == "\(TokenFault.header)")
        #expect(judge(issuer.token(claims(), ["kid": "k1\u{0}"])) == "\(TokenFault.header)")
        #expect(
            judge(issuer.token(claims(), ["kid": JSONValue(String(repeating: "k", count: 513))]))
                == "\(TokenFault.header)")
        // Two spellings of one letter that Swift takes for the same.
        let composed = keySet(issuer.jwk(["kid": "\u{E9}"]))
        let token = issuer.token(claims(), ["kid": "e\u{301}"])
        #expect(
            word(TokenVerification(plain).verify(token, with: composed, keysAreFresh: false)) == "unknown key")
    }

    @Test("a signature of zeros, cut, lengthened or over something else matches nothing")
    func signatures() throws {
        let good = issuer.token(claims())
        let message = good.prefix(upTo: good.lastIndex(of: ".") ?? good.startIndex)
        for signature in [
            Array(repeating: 0, count: 64), [], [0], Array(repeating: 0, count: 63), Array(repeating: 0, count: 128),
        ] as [[UInt8]] {
            #expect(judge(message + "." + Base64.urlSafe.text(of: signature)) == "\(TokenFault.signature)")
        }
        let other = issuer.token(claims(["sub": "u2"]))
        let mixed = message + other.suffix(from: other.lastIndex(of: ".") ?? other.startIndex)
        #expect(judge(String(mixed)) == "\(TokenFault.signature)")
        #expect(judge(try Issuer().token(claims())) == "\(TokenFault.signature)")
    }

    @Test("the form is strict")
    func form() {
        let good = issuer.token(claims())
        #expect(judge(good + ".AA.AA") == "\(TokenFault.parts)")
        #expect(judge(good + "=") == "\(TokenFault.encoding)")
        #expect(judge(" " + good) == "\(TokenFault.encoding)")
        #expect(judge("") == "\(TokenFault.parts)")
        #expect(judge(String(repeating: "A", count: 70_000)) == "\(TokenFault.tooLong)")
        let twice = issuer.token(header: #"{"alg":"ES256","kid":"k1","alg":"ES256"}"#, payload: "{}")
        #expect(judge(twice) == "\(TokenFault.duplicateMember)")
        for payload in [#"{"sub":"a","sub":"b"}"#, #"{"address":{"a":1,"a":2}}"#] {
            #expect(
                judge(issuer.token(header: #"{"alg":"ES256","kid":"k1"}"#, payload: payload))
                    == "\(TokenFault.duplicateMember)")
        }
        for payload in ["", "[]", "7", "null", "{", "\u{FEFF}{}", #"{"exp":1e400}"#, #"{"a":"\u0000"}"#] {
            #expect(
                judge(issuer.token(header: #"{"alg":"ES256","kid":"k1"}"#, payload: payload))
                    == "\(TokenFault.payload)")
        }
        #expect(judge(issuer.token(header: #"{"kid":"k1"}"#, payload: "{}")) == "\(TokenFault.header)")
        #expect(judge(issuer.token(header: #"{"alg":7}"#, payload: "{}")) == "\(TokenFault.header)")
    }

    @Test("an algorithm that nobody here knows is another verdict than a bad token")
    func unknownAlgorithms() {
        #expect(judge(issuer.token(claims(), ["alg": "ES256K"])) == "cannot verify ES256K")
        #expect(judge(issuer.token(claims(), ["alg": "ML-DSA-44"])) == "cannot verify ML-DSA-44")
        #expect(judge(issuer.token(claims(), ["alg": "<script>"])) == "cannot verify of no known name")
        #expect(judge(issuer.token(claims(), ["alg": "RS512"])) == "\(TokenFault.algorithm("RS512"))")
    }

    @Test("a token of another kind is refused by its type")
    func kinds() {
        #expect(judge(issuer.token(claims(), ["typ": "logout+jwt"])) == "\(TokenFault.type)")
        #expect(judge(issuer.token(claims(), ["typ": "application/AT+JWT"])) == "\(TokenFault.type)")
    }
}

@Suite struct KeySelectionTests {
    private func judge(_ token: String, _ keys: JSONWebKeySet, fresh: Bool = false) -> String {
        word(TokenVerification(plain).verify(token, with: keys, keysAreFresh: fresh))
    }

    @Test("a key without a name is not the one that a token names, until newer keys have been asked for")
    func unnamed() throws {
        let issuer = try Issuer(keyID: nil)
        let keys = keySet(issuer.jwk())
        #expect(judge(issuer.token(claims()), keys) == "verified")
        #expect(judge(issuer.token(claims(), ["kid": "zz"]), keys) == "unknown key")
        #expect(judge(issuer.token(claims(), ["kid": "zz"]), keys, fresh: true) == "verified")
    }

    @Test("several keys of one name, or for a token that names none, are tried, four at most")
    func several() throws {
        let issuers = try (0..<5).map { _ in try Issuer(keyID: "same") }
        let keys = try JSONWebKeySet(document: document(issuers.map { $0.jwk() }))
        for (number, issuer) in issuers.enumerated() {
            let expected = number < 4 ? "verified" : "\(TokenFault.signatureOfMany(untried: 1))"
            #expect(judge(issuer.token(claims()), keys) == expected)
            let unnamed = issuer.token(header: #"{"alg":"ES256"}"#, payload: "{}")
            #expect(judge(unnamed, keys) == expected)
        }
    }

    @Test("of many keys those that name the algorithm are tried first, and what was not tried is told")
    func many() throws {
        let issuers = try (0..<6).map { _ in try Issuer(keyID: nil) }
        var jwks = issuers.map { $0.jwk() }
        jwks[5] = issuers[5].jwk(["alg": "ES256"])
        let keys = try JSONWebKeySet(document: document(jwks))
        #expect(judge(issuers[5].token(claims()), keys) == "verified")
        #expect(judge(issuers[2].token(claims()), keys) == "verified")
        #expect(judge(issuers[3].token(claims()), keys) == "\(TokenFault.signatureOfMany(untried: 2))")
        #expect("\(TokenFault.signatureOfMany(untried: 2))".contains("first 4 keys of its kind, and 2 more"))
    }

    @Test("of a set of more than a hundred keys one is found by its name wherever it stands")
    func beyond() throws {
        let (first, last) = (try Issuer(keyID: "first"), try Issuer(keyID: "last"))
        let fillers = (0..<120).map { JSONValue(dictionaryLiteral: ("kty", "X"), ("kid", JSONValue("f\($0)"))) }
        let keys = try JSONWebKeySet(document: document([first.jwk()] + fillers + [last.jwk()]))
        #expect(keys.keys.count + keys.passedOver.count == 100 && keys.furtherCount == 22)
        #expect(judge(first.token(claims()), keys) == "verified")
        #expect(judge(last.token(claims()), keys) == "verified")
        #expect(judge(last.token(claims(), ["kid": "none"]), keys, fresh: true) == "\(TokenFault.unknownKey)")
        // Without its name nobody looks for it there.
        #expect(judge(last.token(header: #"{"alg":"ES256"}"#, payload: "{}"), keys) == "\(TokenFault.signature)")
    }

    @Test("a key for encryption, for another algorithm or of another kind is not tried")
    func meanings() throws {
        let issuer = try Issuer()
        for more in [["use": "enc"], ["alg": "ES384"], ["key_ops": ["sign"]]] as [JSONValue] {
            #expect(judge(issuer.token(claims()), keySet(issuer.jwk(more))) == "unknown key")
        }
        // The name is an RSA key's, the algorithm is not.
        let token = issuer.token(claims(), ["alg": "RS256"])
        #expect(judge(token, keySet(issuer.jwk())) == "unknown key")
        #expect(judge(token, keySet(issuer.jwk()), fresh: true) == "\(TokenFault.unknownKey)")
    }

    @Test("a key that is there and not understood is told apart from one that is not there")
    func passedOver() throws {
        let issuer = try Issuer()
        let odd: JSONValue = ["kty": "OKP", "crv": "Ed448", "kid": "k1", "x": "AA"]
        #expect(judge(issuer.token(claims(), ["alg": "EdDSA"]), keySet(odd)) == "cannot verify EdDSA")
        let broken: JSONValue = ["kty": "EC", "crv": "P-256", "kid": "k1", "x": "AA", "y": "AA"]
        #expect(judge(issuer.token(claims()), keySet(broken)) == "\(TokenFault.unusableKey)")
        #expect(judge(issuer.token(claims()), keySet(odd, issuer.jwk())) == "verified")
    }
}
