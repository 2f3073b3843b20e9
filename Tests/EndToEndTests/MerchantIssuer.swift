// SPDX-License-Identifier: Apache-2.0
import NativeCrypto
import NativeJSON
import NativeSystem
import TestSupport

/// The merchant's own login: it signs sessions of its users and tells its keys over HTTP.
final class MerchantIssuer: Sendable {
    static let issuer = "https://login.shop.test"
    static let audience = "consent-gateway"

    let key: ES256PrivateKey
    let keyID: String
    let server: ScriptedProvider
    private let isDown: Locked<Bool>
    private let document: Locked<String>

    /// - Parameter isDown: whether its keys cannot be had for now.
    init(keyID: String = "k1", isDown: Bool = false) throws {
        let key = try ES256PrivateKey()
        let down = Locked(isDown)
        let document = Locked(MerchantIssuer.document([MerchantIssuer.jwk(of: key, keyID)]))
        self.key = key
        self.keyID = keyID
        self.isDown = down
        self.document = document
        server = try ScriptedProvider { _ in
            down.withLock { $0 } ? .http(503, "", end: .close) : .http(200, document.withLock { $0 })
        }
    }

    func set(isDown: Bool) { self.isDown.withLock { $0 = isDown } }

    /// From now on it tells the keys of these.
    func publish(_ issuers: [MerchantIssuer]) {
        let told = MerchantIssuer.document(issuers.map { MerchantIssuer.jwk(of: $0.key, $0.keyID) })
        document.withLock { $0 = told }
    }

    static func jwk(of key: ES256PrivateKey, _ keyID: String) -> JSONValue {
        [
            "kty": "EC", "crv": "P-256", "kid": JSONValue(keyID), "use": "sig",
            "x": JSONValue(Base64.urlSafe.text(of: key.publicKey.x)),
            "y": JSONValue(Base64.urlSafe.text(of: key.publicKey.y)),
        ]
    }

    static func document(_ jwks: [JSONValue]) -> String {
        text(JSONValue(dictionaryLiteral: ("keys", .array(jwks))))
    }

    static func text(_ value: JSONValue) -> String { String(decoding: value.serialized(.compact), as: UTF8.self) }

    /// `auth` with this issuer as its only one.
    func settings(_ more: String = "") -> String {
        """
        auth:
          jwt:
            - issuer: \(MerchantIssuer.issuer)
              audience: \(MerchantIssuer.audience)
              jwks_uri: \(server.url)/jwks.json
              subject_prefix: "shop:"
        \(more)
        """
    }

    /// The claims of a good session, with those changes; null takes a claim out.
    static func claims(of user: String, _ changes: JSONValue = [:]) -> JSONValue {
        let now = wallClockMilliseconds() / 1000
        let usual: JSONValue = [
            "iss": JSONValue(issuer), "aud": JSONValue(audience), "sub": JSONValue(user),
            "iat": JSONValue(now), "exp": JSONValue(now + 600),
        ]
        var merged = JSONValue.object()
        for members in [usual.members, changes.members] {
            for (name, value) in members { merged.set(name, value) }
        }
        var kept = JSONValue.object()
        for (name, value) in merged.members where !value.isNull { kept.set(name, value) }
        return kept
    }

    /// The header that it writes, with those changes.
    func header(_ changes: JSONValue = [:]) -> JSONValue {
        var header: JSONValue = ["alg": "ES256", "typ": "JWT", "kid": JSONValue(keyID)]
        for (name, value) in changes.members { header.set(name, value) }
        return header
    }

    /// A session of that user.
    func session(of user: String, _ changes: JSONValue = [:], header: JSONValue = [:]) -> String {
        sign(MerchantIssuer.claims(of: user, changes), self.header(header))
    }

    func sign(_ claims: JSONValue, _ header: JSONValue) -> String {
        let message = MerchantIssuer.message(claims, header)
        return message + "." + Base64.urlSafe.text(of: key.signature(over: Array(message.utf8)))
    }

    /// What is signed.
    static func message(_ claims: JSONValue, _ header: JSONValue) -> String {
        [header, claims].map { Base64.urlSafe.text(of: $0.serialized(.compact)) }.joined(separator: ".")
    }
}
