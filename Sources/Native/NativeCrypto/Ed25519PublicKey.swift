// SPDX-License-Identifier: Apache-2.0
internal import COpenSSL

/// A public key of Edwards25519 that verifies pure EdDSA signatures (RFC 8032, section 5.1.7; RFC 8037, section 2).
///
/// Unchecked: the key is never written after it was made, each signature is verified in a context of its own, and
/// OpenSSL counts its references atomically.
@safe package final class Ed25519PublicKey: @unchecked Sendable {
    package static let length = 32
    package static let signatureLength = 64
    private let key: OpaquePointer

    /// - Parameter bytes: the encoded point, 32 bytes.
    /// - Returns: nil for another length, and where OpenSSL gives no Ed25519.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length,
            let made = unsafe EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, bytes, bytes.count)
        else {
            ERR_clear_error()
            return nil
        }
        unsafe key = made
    }

    deinit { unsafe EVP_PKEY_free(key) }

    /// Whether that signature of 64 bytes was made over the message with the private key that belongs to this one.
    package func verifies(_ signature: [UInt8], over message: [UInt8]) -> Bool {
        guard signature.count == Self.signatureLength else { return false }
        let context = unsafe check(EVP_MD_CTX_new(), "EVP_MD_CTX_new")
        defer { unsafe EVP_MD_CTX_free(context) }
        // A point that is none shows here, or in the verification.
        let isGood =
            unsafe EVP_DigestVerifyInit_ex(context, nil, nil, nil, nil, key, nil) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
        if !isGood { ERR_clear_error() }
        return isGood
    }
}
