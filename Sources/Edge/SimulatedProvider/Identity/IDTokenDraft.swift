// SPDX-License-Identifier: Apache-2.0
import NativeCrypto
import NativeJOSE
import NativeJSON

/// A token before it is signed, so that a fault can change what it says and who signs it.
struct IDTokenDraft: Sendable {
    enum Signer: Sendable {
        case key
        /// A key that is in no key set; the header names the right one.
        case stranger(AssertionKey)
        /// The right key, whose signature is changed afterwards.
        case altered
        /// HMAC-SHA-256 under the bytes of the public key's text.
        case publicText
        case nobody
    }

    var header: AnswerMembers
    var claims: AnswerMembers
    var signer = Signer.key
    private let keys: SigningKeys

    init(_ claims: JSONValue, _ keys: SigningKeys) {
        header = AnswerMembers([
            "alg": JSONValue(keys.signing.rawValue), "typ": "JWT", "kid": JSONValue(keys.current.keyID),
        ])
        self.claims = AnswerMembers(claims)
        self.keys = keys
    }

    /// Hands the token to a new key to sign, which its header may bring along. Without one nobody signs.
    mutating func changeSigner(tellsKey: Bool) {
        guard let stranger = try? keys.stranger() else {
            signer = .nobody
            return
        }
        if tellsKey { header.set("jwk", stranger.publicJWK) }
        signer = .stranger(stranger)
    }

    /// The compact form (RFC 7515, section 7.1).
    var text: String {
        let message = Base64.urlSafe.text(of: header.bytes) + "." + Base64.urlSafe.text(of: claims.bytes)
        return message + "." + Base64.urlSafe.text(of: signature(over: Array(message.utf8)))
    }

    private func signature(over message: [UInt8]) -> [UInt8] {
        switch signer {
        case .key: return keys.current.signature(over: message)
        case .stranger(let key): return key.signature(over: message)
        case .altered:
            var signature = keys.current.signature(over: message)
            signature[signature.count / 2] ^= 1
            return signature
        case .publicText:
            let text = SecretBytes(keys.current.publicJWK.serialized(.compact))
            return (try? HMACSHA256(key: text))?.mac(message) ?? []
        case .nobody: return []
        }
    }
}

/// What a fault does to an ID token.
typealias IDTokenBend = @Sendable (inout IDTokenDraft) -> Void

extension Simulation {
    /// The ID token of an exchange or a refresh (OpenID Connect Core, sections 2, 3.1.3.6 and 12.2); nil where none is
    /// issued: without keys, and without the scope `openid`.
    func idToken(for issued: ProviderState.Issued, at now: Int64) -> String? {
        guard let keys, issued.scopes.contains("openid") else { return nil }
        var claims: JSONValue = ["iss": JSONValue(issuer), "sub": JSONValue(issued.person.userID)]
        claims.set("aud", issued.clientID)
        claims.set("exp", now / 1000 + Int64(options.idTokenLifetime))
        claims.set("iat", now / 1000)
        claims.set("auth_time", issued.authenticatedAt / 1000)
        if let nonce = issued.nonce { claims.set("nonce", nonce) }
        claims.set("at_hash", Base64.urlSafe.text(of: Array(sha256(issued.accessToken).prefix(16))))
        var draft = IDTokenDraft(claims, keys)
        idTokenBend?(&draft)
        return draft.text
    }

    /// A profile as a signed token (OpenID Connect Core, section 5.3.2).
    func signed(_ profile: JSONValue, for clientID: String, _ keys: SigningKeys) -> SimulatedAnswer {
        var claims = profile
        claims.set("iss", issuer)
        claims.set("aud", clientID)
        return SimulatedAnswer(
            status: 200, type: "application/jwt", body: Array(IDTokenDraft(claims, keys).text.utf8))
    }
}
