// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCrypto
import NativeJOSE
import NativeJSON

@testable import IdentityTokens

/// An issuer of the tests: it has a key of its own and signs what it is told to, however wrong that is.
struct Issuer: Sendable {
    static let url = "https://op.test"
    static let client = "app1"

    let key: ES256PrivateKey
    let keyID: String?

    init(keyID: String? = "k1") throws {
        key = try ES256PrivateKey()
        self.keyID = keyID
    }

    /// Its public key as a JWK.
    func jwk(_ more: JSONValue = [:]) -> JSONValue {
        var jwk: JSONValue = [
            "kty": "EC", "crv": "P-256", "x": JSONValue(Base64.urlSafe.text(of: key.publicKey.x)),
            "y": JSONValue(Base64.urlSafe.text(of: key.publicKey.y)),
        ]
        if let keyID { jwk.set("kid", keyID) }
        for (name, value) in more.members { jwk.set(name, value) }
        return jwk
    }

    /// A token with that header and payload, signed.
    func token(header: String, payload: String) -> String {
        let message = [header, payload].map { Base64.urlSafe.text(of: Array($0.utf8)) }.joined(separator: ".")
        return message + "." + Base64.urlSafe.text(of: key.signature(over: Array(message.utf8)))
    }

    /// A token with those claims and its own header.
    func token(_ claims: JSONValue, _ header: JSONValue = [:]) -> String {
        var head: JSONValue = ["alg": "ES256"]
        if let keyID { head.set("kid", keyID) }
        for (name, value) in header.members { head.set(name, value) }
        return token(header: text(head), payload: text(claims))
    }

    private func text(_ value: JSONValue) -> String {
        String(decoding: value.serialized(.compact), as: UTF8.self)
    }
}

/// The set of those JWKs.
func keySet(_ jwks: JSONValue...) -> JSONWebKeySet {
    (try? JSONWebKeySet(document: document(jwks))) ?? JSONWebKeySet(keys: [])
}

func document(_ jwks: [JSONValue]) -> [UInt8] {
    JSONValue(dictionaryLiteral: ("keys", .array(jwks))).serialized(.compact)
}

let plain = TokenPolicy(algorithms: [.rs256, .ps256, .es256, .edDSA], secret: nil, types: .unnamed(or: []))

/// What the verdict is, in a word that can be compared.
func word(_ verdict: TokenVerdict) -> String {
    switch verdict {
    case .verified: "verified"
    case .invalid(let fault): "\(fault)"
    case .cannotVerify(let algorithm): "cannot verify \(algorithm)"
    case .unknownKey: "unknown key"
    }
}

/// The tests' moment: 2026-01-02T03:04:05Z.
let now = Instant(milliseconds: 1_767_323_045_000)
let seconds: Int64 = 1_767_323_045

/// Those members, and in the place of one another value, or none for null.
func claims(_ changes: JSONValue = [:]) -> JSONValue {
    let usual: JSONValue = [
        "iss": JSONValue(Issuer.url), "sub": "u1", "aud": JSONValue(Issuer.client), "exp": JSONValue(seconds + 300),
        "iat": JSONValue(seconds),
    ]
    var merged = usual
    for (name, value) in changes.members { merged.set(name, value) }
    return merged
}
