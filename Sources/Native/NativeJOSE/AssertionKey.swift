// SPDX-License-Identifier: Apache-2.0
package import NativeCrypto
package import NativeJSON

/// The private key with which a client shows who it is, for one algorithm: RS256, PS256 or ES256.
///
/// OpenSSL signs: the private key stays in the one object that it was read into.
package final class AssertionKey: Sendable, CustomStringConvertible, CustomReflectable {
    package let algorithm: JOSEAlgorithm
    /// The public part, named by its thumbprint.
    package let publicKey: VerificationKey
    private let key: PEMPrivateKey
    private let jwk: JSONValue

    /// - Parameters:
    ///   - pem: the file's bytes; whoever read them wipes them.
    ///   - algorithm: nil for the usual one of the key: RS256 or ES256.
    /// - Throws: ``AssertionKeyRefusal``.
    package convenience init(pem: [UInt8], algorithm: JOSEAlgorithm? = nil) throws(AssertionKeyRefusal) {
        let key: PEMPrivateKey
        do throws(PEMRefusal) { key = try PEMPrivateKey(pem) } catch { throw .pem(error) }
        try self.init(key: key, algorithm: algorithm)
    }

    /// A key that is there already, such as one that was just made.
    /// - Throws: ``AssertionKeyRefusal``, but never `pem`.
    package init(key: PEMPrivateKey, algorithm: JOSEAlgorithm?) throws(AssertionKeyRefusal) {
        self.key = key
        do throws(KeyRefusal) {
            switch key {
            case .rsa(let key):
                publicKey = try .rsa(modulus: key.modulus, exponent: key.exponent)
                self.algorithm = algorithm ?? .rs256
                jwk = [
                    "kty": "RSA", "n": JSONValue(Base64.urlSafe.text(of: key.modulus)),
                    "e": JSONValue(Base64.urlSafe.text(of: key.exponent)),
                ]
            case .p256(let key):
                let (x, y) = (key.publicKey.x, key.publicKey.y)
                publicKey = try .ec(curve: "P-256", x: x, y: y)
                self.algorithm = algorithm ?? .es256
                jwk = [
                    "kty": "EC", "crv": "P-256", "x": JSONValue(Base64.urlSafe.text(of: x)),
                    "y": JSONValue(Base64.urlSafe.text(of: y)),
                ]
            }
        } catch {
            throw .key(error)
        }
        guard [.rs256, .ps256, .es256].contains(self.algorithm), self.algorithm.fits(publicKey.kind) else {
            throw .algorithm
        }
    }

    /// What stands in the header as `kid`.
    package var keyID: String { publicKey.thumbprint }

    /// The public part as it stands in a key set, with `kid`, `use` and `alg`.
    package var publicJWK: JSONValue {
        var jwk = jwk
        jwk.set("kid", keyID)
        jwk.set("use", "sig")
        jwk.set("alg", algorithm.rawValue)
        return jwk
    }

    /// The claims as a signed token in compact form.
    /// - Parameter type: `typ` of the header.
    package func sign(_ claims: JSONValue, type: String) -> String {
        let header: JSONValue = [
            "alg": JSONValue(algorithm.rawValue), "typ": JSONValue(type), "kid": JSONValue(keyID),
        ]
        let message = [header, claims].map { Base64.urlSafe.text(of: $0.serialized(.compact)) }.joined(separator: ".")
        return message + "." + Base64.urlSafe.text(of: signature(over: Array(message.utf8)))
    }

    /// The signature as JOSE has it, over a message that was put together elsewhere.
    package func signature(over message: [UInt8]) -> [UInt8] {
        switch key {
        case .rsa(let key): key.signature(over: message, algorithm == .ps256 ? .pss : .pkcs1)
        case .p256(let key): key.signature(over: message)
        }
    }

    package var description: String { "redacted" }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// Why a private key cannot sign a client's assertions.
package enum AssertionKeyRefusal: Error, Sendable, CustomStringConvertible {
    case pem(PEMRefusal)
    case key(KeyRefusal)
    /// It is for keys of another kind, or none of RS256, PS256 and ES256.
    case algorithm

    package var description: String {
        switch self {
        case .pem(let refusal): refusal.description
        case .key(let refusal): refusal.description
        case .algorithm: "the algorithm is for other keys: RSA keys sign with RS256 or PS256, P-256 keys with ES256"
        }
    }
}
