// SPDX-License-Identifier: Apache-2.0
package import NativeCrypto
import NativeJOSE
import NativeJSON

/// With what the simulated provider signs ID tokens.
package enum IDTokenSigning: String, Sendable, CaseIterable {
    case rs256 = "RS256"
    case ps256 = "PS256"
    case es256 = "ES256"
}

/// The keys that the simulated provider signs ID tokens with: one that signs, and those that it publishes.
package struct SigningKeys: Sendable {
    package let signing: IDTokenSigning
    private(set) var current: AssertionKey
    /// What the key set holds, the newest first; three at most.
    private(set) var published: [AssertionKey]

    /// A new key; one for RSA takes a tenth of a second and more.
    /// - Throws: ``CryptoUnavailable`` where OpenSSL makes none.
    package init(_ signing: IDTokenSigning) throws(CryptoUnavailable) {
        self.signing = signing
        current = try Self.make(signing)
        published = [current]
    }

    /// Signs with a new key from now on.
    ///
    /// - Parameter keepsOld: whether the key set holds the old ones too.
    /// - Throws: ``CryptoUnavailable``; then nothing has changed.
    mutating func rotate(keepsOld: Bool) throws(CryptoUnavailable) {
        current = try Self.make(signing)
        published = [current] + (keepsOld ? published.prefix(2) : [])
    }

    /// Another key of the same kind, that is in no key set.
    /// - Throws: ``CryptoUnavailable`` where OpenSSL makes none.
    func stranger() throws(CryptoUnavailable) -> AssertionKey { try Self.make(signing) }

    private static func make(_ signing: IDTokenSigning) throws(CryptoUnavailable) -> AssertionKey {
        let key: PEMPrivateKey = signing == .es256 ? .p256(try ES256PrivateKey()) : .rsa(try RSAPrivateKey(bits: 2048))
        do throws(AssertionKeyRefusal) {
            return try AssertionKey(key: key, algorithm: JOSEAlgorithm(name: signing.rawValue))
        } catch {
            throw CryptoUnavailable(algorithm: signing.rawValue)
        }
    }

    /// The key set (RFC 7517, section 5).
    var json: JSONValue { ["keys": .array(published.map(\.publicJWK))] }
}
