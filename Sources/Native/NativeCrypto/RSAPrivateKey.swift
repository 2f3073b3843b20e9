// SPDX-License-Identifier: Apache-2.0
internal import COpenSSL

/// An RSA private key that signs with SHA-256 (RFC 8017).
///
/// Unchecked: the key is never written after it was made, each signature is made in a context of its own, and OpenSSL
/// counts its references atomically and locks its blinding.
@safe package final class RSAPrivateKey: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
    package enum Padding: Sendable {
        /// RSASSA-PKCS1-v1_5, as RS256 has it.
        case pkcs1
        /// RSASSA-PSS with MGF1 and a salt as long as the digest, as PS256 has it (RFC 7518, section 3.5).
        case pss
    }

    private let key: OpaquePointer
    /// Big-endian, without leading zeros.
    package let modulus: [UInt8]
    package let exponent: [UInt8]
    /// Of the modulus.
    package let bits: Int

    /// Takes the key over, and frees it where it is no RSA key or its parts do not fit together.
    init?(owning key: OpaquePointer) {
        guard unsafe EVP_PKEY_is_a(key, "RSA") == 1, unsafe Self.isWhole(key),
            let modulus = unsafe Self.number(OSSL_PKEY_PARAM_RSA_N, of: key),
            let exponent = unsafe Self.number(OSSL_PKEY_PARAM_RSA_E, of: key)
        else {
            unsafe EVP_PKEY_free(key)
            ERR_clear_error()
            return nil
        }
        unsafe self.key = key
        self.modulus = modulus
        self.exponent = exponent
        bits = unsafe Int(EVP_PKEY_get_bits(key))
    }

    /// A new key from the random generator, with the exponent 65,537. It takes a tenth of a second and more.
    /// - Parameter bits: of the modulus, from 2,048.
    /// - Throws: ``CryptoUnavailable`` where OpenSSL makes none of that size.
    package convenience init(bits: Int) throws(CryptoUnavailable) {
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "RSA", nil) else {
            throw CryptoUnavailable(algorithm: "RSA")
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        guard bits >= 2048, unsafe EVP_PKEY_keygen_init(context) == 1,
            unsafe EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(clamping: bits)) == 1,
            unsafe EVP_PKEY_generate(context, &made) == 1, let key = unsafe made,
            let whole = unsafe RSAPrivateKey(owning: key)
        else { throw CryptoUnavailable(algorithm: "RSA of \(bits) bits") }
        self.init(whole)
    }

    private init(_ other: RSAPrivateKey) {
        check(unsafe EVP_PKEY_up_ref(other.key), "EVP_PKEY_up_ref")
        unsafe key = other.key
        modulus = other.modulus
        exponent = other.exponent
        bits = other.bits
    }

    deinit { unsafe EVP_PKEY_free(key) }

    private static func isWhole(_ key: OpaquePointer) -> Bool {
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { return false }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        return unsafe EVP_PKEY_pairwise_check(context) == 1
    }

    private static func number(_ name: String, of key: OpaquePointer) -> [UInt8]? {
        var number: OpaquePointer?
        guard unsafe EVP_PKEY_get_bn_param(key, name, &number) == 1, let number = unsafe number else { return nil }
        defer { unsafe BN_free(number) }
        let length = unsafe Int(BN_num_bits(number) + 7) / 8
        return unsafe [UInt8](unsafeUninitializedCapacity: length) { buffer, filled in
            unsafe filled = Int(max(0, BN_bn2bin(number, buffer.baseAddress)))
        }
    }

    /// The signature over the message, as long as the modulus.
    package func signature(over message: [UInt8], _ padding: Padding) -> [UInt8] {
        let context = unsafe check(EVP_MD_CTX_new(), "EVP_MD_CTX_new")
        defer { unsafe EVP_MD_CTX_free(context) }
        var options: OpaquePointer?
        check(unsafe EVP_DigestSignInit_ex(context, &options, "SHA256", nil, nil, key, nil), "EVP_DigestSignInit_ex")
        if padding == .pss {
            check(
                unsafe EVP_PKEY_CTX_set_rsa_padding(options, RSA_PKCS1_PSS_PADDING), "EVP_PKEY_CTX_set_rsa_padding")
            check(
                unsafe EVP_PKEY_CTX_set_rsa_pss_saltlen(options, RSA_PSS_SALTLEN_DIGEST),
                "EVP_PKEY_CTX_set_rsa_pss_saltlen")
        }
        var length = 0
        check(unsafe EVP_DigestSign(context, nil, &length, message, message.count), "EVP_DigestSign")
        return unsafe [UInt8](unsafeUninitializedCapacity: length) { buffer, filled in
            check(
                unsafe EVP_DigestSign(context, buffer.baseAddress, &length, message, message.count), "EVP_DigestSign")
            filled = length
        }
    }

    package var description: String { "redacted" }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
