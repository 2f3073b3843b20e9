// SPDX-License-Identifier: Apache-2.0
package import NativeCrypto

/// A signature algorithm of JOSE that can be verified here, by its registered name (RFC 7518, section 3.1; RFC 8037).
package enum JOSEAlgorithm: String, Sendable, CaseIterable {
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    /// Over Edwards25519 only.
    case edDSA = "EdDSA"
    /// A MAC: whoever verifies could have made it. Only ever with a client's own secret.
    case hs256 = "HS256"

    /// The algorithm of a registered name. `Ed25519` is a newer name of EdDSA over that curve (RFC 9864, section 2.2).
    package init?(name: String) { self.init(rawValue: name == "Ed25519" ? "EdDSA" : name) }

    /// Whether everybody may have the key that verifies.
    package var isAsymmetric: Bool { self != .hs256 }

    /// The digest of the signature, which `at_hash` is made with too (OpenID Connect Core, section 3.1.3.6). Ed25519
    /// has SHA-512 inside.
    package var digest: DigestAlgorithm {
        switch self {
        case .rs256, .ps256, .es256, .hs256: .sha256
        case .rs384, .ps384, .es384: .sha384
        case .rs512, .ps512, .es512, .edDSA: .sha512
        }
    }

    /// Whether a key of that kind may be used with it; nothing else keeps a key of one kind from another's algorithm.
    package func fits(_ kind: KeyKind) -> Bool {
        switch (self, kind) {
        case (.rs256, .rsa), (.rs384, .rsa), (.rs512, .rsa), (.ps256, .rsa), (.ps384, .rsa), (.ps512, .rsa): true
        case (.es256, .p256), (.es384, .p384), (.es512, .p521), (.edDSA, .ed25519): true
        default: false
        }
    }
}

/// The kinds of public key that can be verified with.
package enum KeyKind: Sendable, Equatable {
    /// With the length of its modulus.
    case rsa(bits: Int)
    case p256
    case p384
    case p521
    case ed25519

    /// `kty` of RFC 7518, section 6.1.
    package var type: String {
        switch self {
        case .rsa: "RSA"
        case .p256, .p384, .p521: "EC"
        case .ed25519: "OKP"
        }
    }
}
