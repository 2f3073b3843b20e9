// SPDX-License-Identifier: Apache-2.0
internal import NativeCrypto
internal import NativeJSON

/// A public key that was found to be usable. RSA and EC keys are cjose's, Ed25519 is OpenSSL's.
package final class VerificationKey: Sendable {
    package let kind: KeyKind
    /// Its name by RFC 7638: SHA-256 over the required members, in base64url.
    package let thumbprint: String
    private let material: Material

    private enum Material: Sendable {
        case cjose(CjoseKey)
        case edwards(Ed25519PublicKey)
    }

    private init(_ kind: KeyKind, _ members: JSONValue, _ material: Material) {
        self.kind = kind
        thumbprint = Base64.urlSafe.text(of: sha256(members.serialized(.canonical)))
        self.material = material
    }

    /// An RSA key of 2,048 to 8,192 bits (RFC 7518, section 3.3; what is longer takes too long), with an odd exponent
    /// from 3 to 64 bits: with 1 everything would be its own signature.
    package static func rsa(modulus: [UInt8], exponent: [UInt8]) throws(KeyRefusal) -> VerificationKey {
        let (modulus, exponent) = (withoutZeros(modulus), withoutZeros(exponent))
        let bits = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
        guard bits >= 2048 else { throw .tooShort }
        guard bits <= 8192, let last = exponent.last, exponent.count <= 8, !last.isMultiple(of: 2), exponent != [1],
            modulus.last?.isMultiple(of: 2) == false
        else { throw .malformed }
        let members: JSONValue = [
            "kty": "RSA", "n": JSONValue(Base64.urlSafe.text(of: modulus)),
            "e": JSONValue(Base64.urlSafe.text(of: exponent)),
        ]
        return try VerificationKey(.rsa(bits: bits), members, loaded(members))
    }

    /// A point of P-256, P-384 or P-521 (RFC 7518, section 6.2.1); each coordinate as long as the curve says.
    package static func ec(curve: String, x: [UInt8], y: [UInt8]) throws(KeyRefusal) -> VerificationKey {
        let kinds: [String: (kind: KeyKind, length: Int)] = [
            "P-256": (.p256, 32), "P-384": (.p384, 48), "P-521": (.p521, 66),
        ]
        guard let (kind, length) = kinds[curve] else { throw .unknownKind }
        guard x.count == length, y.count == length else { throw .malformed }
        let members: JSONValue = [
            "kty": "EC", "crv": JSONValue(curve), "x": JSONValue(Base64.urlSafe.text(of: x)),
            "y": JSONValue(Base64.urlSafe.text(of: y)),
        ]
        return try VerificationKey(kind, members, loaded(members))
    }

    /// A point of Edwards25519 (RFC 8037, section 2).
    package static func ed25519(_ x: [UInt8]) throws(KeyRefusal) -> VerificationKey {
        guard let key = Ed25519PublicKey(x) else { throw .malformed }
        let members: JSONValue = ["kty": "OKP", "crv": "Ed25519", "x": JSONValue(Base64.urlSafe.text(of: x))]
        return VerificationKey(.ed25519, members, .edwards(key))
    }

    /// cjose checks that a point lies on its curve.
    private static func loaded(_ members: JSONValue) throws(KeyRefusal) -> Material {
        guard let key = CjoseKey(members.serialized(.compact)) else { throw .malformed }
        return .cjose(key)
    }

    private static func withoutZeros(_ number: [UInt8]) -> [UInt8] { Array(number.drop { $0 == 0 }) }

    /// Whether the token was signed with that algorithm and the private key that belongs to this one.
    ///
    /// The algorithm is the caller's choice, never the token's own word alone: one that the key is not for, and a
    /// header that names another one, verify nothing.
    package func verifies(_ token: CompactJWS, as algorithm: JOSEAlgorithm) -> Bool {
        guard algorithm.fits(kind), token.algorithm.flatMap(JOSEAlgorithm.init(name:)) == algorithm,
            token.signature.count == signatureLength
        else { return false }
        switch material {
        case .edwards(let key): return key.verifies(token.signature, over: token.signedBytes)
        case .cjose(let key): return key.verifies(token.bytes)
        }
    }

    /// The only length that a signature may have (RFC 7518, sections 3.3 to 3.5): cjose takes longer ones for EC.
    private var signatureLength: Int {
        switch kind {
        case .rsa(let bits): (bits + 7) / 8
        case .p256: 64
        case .p384: 96
        case .p521: 132
        case .ed25519: Ed25519PublicKey.signatureLength
        }
    }
}

/// Why a key is not used. It never holds any of the key.
package enum KeyRefusal: String, Error, Sendable, CustomStringConvertible {
    /// `kty` or `crv` is none that we know; `oct` among them, which has no place in a public set.
    case unknownKind = "a kind of key that is not known here"
    case tooShort = "an RSA key of fewer than 2,048 bits"
    case malformed = "the numbers of the key are no key"
    case tooLong = "a name, use or algorithm of the key is too long"

    package var description: String { rawValue }
}
