// SPDX-License-Identifier: Apache-2.0
internal import NativeCrypto

/// A client's secret as the key of HS256 (RFC 7518, section 3.2; OpenID Connect Core, section 10.1).
///
/// The MAC is OpenSSL's: cjose reads beyond the end of a MAC that is too short.
package final class ClientSecretMAC: Sendable {
    private let mac: HMACSHA256

    /// - Parameter secret: the UTF-8 bytes of the client's secret, at least 32 (RFC 7518, section 3.2).
    /// - Throws: ``SecretRefusal``.
    package init(secret: [UInt8]) throws(SecretRefusal) {
        guard secret.count >= 32 else { throw .tooShort }
        // What begins like a PEM file, a JWK or a certificate is everybody's, and no secret.
        let isKey = secret.starts(with: "-----BEGIN".utf8) || secret.first == UInt8(ascii: "{")
        guard !isKey else { throw .publicKey }
        do throws(CryptoUnavailable) { mac = try HMACSHA256(key: SecretBytes(secret)) } catch {
            throw .unavailable
        }
    }

    /// Whether the token says HS256 and was made with this secret, in a time that does not depend on it.
    package func verifies(_ token: CompactJWS) -> Bool {
        token.algorithm == JOSEAlgorithm.hs256.rawValue
            && isSameInConstantTime(mac.mac(token.signedBytes), token.signature)
    }
}

/// Why a client's secret is no key.
package enum SecretRefusal: String, Error, Sendable, CustomStringConvertible {
    case tooShort = "the client's secret has fewer than 32 bytes, too few for HS256"
    case publicKey = "the client's secret is a key in PEM or JWK, and none for HS256"
    case unavailable = "OpenSSL gives no HMAC with SHA-256"

    package var description: String { rawValue }
}
