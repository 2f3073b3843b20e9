// SPDX-License-Identifier: Apache-2.0
internal import COpenSSL

/// A private key as a PEM file holds it (RFC 7468; PKCS #8, or the older forms that the `openssl` program writes).
package enum PEMPrivateKey: Sendable {
    case rsa(RSAPrivateKey)
    case p256(ES256PrivateKey)

    /// The first private key of the file's bytes.
    ///
    /// - Throws: ``PEMRefusal``. Nobody is ever asked for a passphrase.
    package init(_ pem: [UInt8]) throws(PEMRefusal) {
        guard let key = unsafe Self.read(pem) else {
            ERR_clear_error()
            throw .noKey
        }
        if unsafe EVP_PKEY_is_a(key, "RSA") == 1 {
            guard let made = unsafe RSAPrivateKey(owning: key) else { throw .broken }
            self = .rsa(made)
        } else if unsafe EVP_PKEY_is_a(key, "EC") == 1 {
            guard let made = unsafe ES256PrivateKey(owning: key) else {
                ERR_clear_error()
                throw .otherKind
            }
            self = .p256(made)
        } else {
            unsafe EVP_PKEY_free(key)
            throw .otherKind
        }
    }

    private static func read(_ pem: [UInt8]) -> OpaquePointer? {
        guard !pem.isEmpty, pem.count <= 1 << 16 else { return nil }
        return unsafe pem.withUnsafeBytes { bytes in
            let source = unsafe check(BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)), "BIO_new_mem_buf")
            defer { unsafe BIO_free(source) }
            return unsafe PEM_read_bio_PrivateKey(source, nil, noPassphrase, nil)
        }
    }
}

/// Why a PEM file gives no private key. It never holds a byte of the file.
package enum PEMRefusal: String, Error, Sendable, CustomStringConvertible {
    case noKey = "the file holds no private key in PEM, or one under a passphrase"
    case otherKind = "the private key is neither an RSA key nor one on P-256"
    case broken = "the parts of the private key do not fit together"

    package var description: String { rawValue }
}

/// OpenSSL would ask at the terminal else (PEM_read_bio_PrivateKey(3)).
func noPassphrase(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int32, _ isWriting: Int32, _ context: UnsafeMutableRawPointer?
) -> Int32 { -1 }
