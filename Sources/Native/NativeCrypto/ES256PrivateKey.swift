// SPDX-License-Identifier: Apache-2.0
internal import COpenSSL

/// A private key on P-256 that signs with SHA-256: ES256 (RFC 7518, section 3.4; FIPS 186-5).
///
/// Unchecked: the key is never written after it was made, each signature is made in a context of its own, and OpenSSL
/// counts its references atomically (openssl-threads(7)).
@safe package final class ES256PrivateKey: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
    private let key: OpaquePointer
    package let publicKey: ES256PublicKey

    /// A new key from the random generator.
    /// - Throws: ``CryptoUnavailable`` where OpenSSL gives no P-256.
    package convenience init() throws(CryptoUnavailable) {
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else {
            throw CryptoUnavailable(algorithm: "EC")
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(context) == 1, unsafe EVP_PKEY_CTX_set_group_name(context, "P-256") == 1,
            unsafe EVP_PKEY_generate(context, &made) == 1, let key = unsafe made,
            let made = unsafe ES256PrivateKey(owning: key)
        else { throw CryptoUnavailable(algorithm: "P-256") }
        self.init(made)
    }

    /// The key that those bytes hold: an `ECPrivateKey` (RFC 5915) or a `PrivateKeyInfo` (RFC 5208) in DER, as the
    /// `openssl` program writes them.
    ///
    /// - Returns: nil for anything else, another curve, and a public part that does not belong to the private one.
    package convenience init?(der: [UInt8]) {
        let read = unsafe der.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return unsafe d2i_AutoPrivateKey(nil, &start, bytes.count)
        }
        guard let key = unsafe read, let made = unsafe ES256PrivateKey(owning: key) else {
            ERR_clear_error()
            return nil
        }
        self.init(made)
    }

    /// Takes the key over, and frees it where it is none of ours.
    init?(owning key: OpaquePointer) {
        guard let publicKey = unsafe ES256PublicKey(ofKey: key), unsafe Self.isWhole(key) else {
            unsafe EVP_PKEY_free(key)
            return nil
        }
        unsafe self.key = key
        self.publicKey = publicKey
    }

    private init(_ other: ES256PrivateKey) {
        check(unsafe EVP_PKEY_up_ref(other.key), "EVP_PKEY_up_ref")
        unsafe key = other.key
        publicKey = other.publicKey
    }

    deinit { unsafe EVP_PKEY_free(key) }

    private static func isWhole(_ key: OpaquePointer) -> Bool {
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { return false }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        return unsafe EVP_PKEY_check(context) == 1
    }

    /// The key as `ECPrivateKey` in DER. Whoever gets it wipes it.
    package func serialized() -> [UInt8] {
        let length = unsafe i2d_PrivateKey(key, nil)
        check(length > 0 ? 1 : 0, "i2d_PrivateKey")
        return unsafe [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, filled in
            var end = buffer.baseAddress
            unsafe filled = Int(max(0, i2d_PrivateKey(key, &end)))
        }
    }

    /// The signature as JOSE has it: r ‖ s, 32 bytes each.
    package func signature(over message: [UInt8]) -> [UInt8] {
        let context = unsafe check(EVP_MD_CTX_new(), "EVP_MD_CTX_new")
        defer { unsafe EVP_MD_CTX_free(context) }
        check(unsafe EVP_DigestSignInit_ex(context, nil, "SHA256", nil, nil, key, nil), "EVP_DigestSignInit_ex")
        var length = 0
        check(unsafe EVP_DigestSign(context, nil, &length, message, message.count), "EVP_DigestSign")
        let der = unsafe [UInt8](unsafeUninitializedCapacity: length) { buffer, filled in
            check(
                unsafe EVP_DigestSign(context, buffer.baseAddress, &length, message, message.count), "EVP_DigestSign")
            filled = length
        }
        return ES256Signature.fixed(fromDER: der)
    }

    package var description: String { "redacted" }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
