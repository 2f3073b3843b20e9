// SPDX-License-Identifier: Apache-2.0
internal import COpenSSL

/// HMAC-SHA-256 under one key (RFC 2104, FIPS 198-1).
///
/// The key is worked in once; each MAC is made on a copy of that state. Unchecked: the state is never written after
/// it was made, and OpenSSL counts its references atomically.
@safe package final class HMACSHA256: @unchecked Sendable {
    private let keyed: OpaquePointer

    /// - Throws: ``CryptoUnavailable`` where OpenSSL gives no HMAC or no SHA-256.
    package init(key: SecretBytes) throws(CryptoUnavailable) {
        guard let algorithm = unsafe EVP_MAC_fetch(nil, "HMAC", nil) else {
            throw CryptoUnavailable(algorithm: "HMAC")
        }
        defer { unsafe EVP_MAC_free(algorithm) }
        let context = unsafe check(EVP_MAC_CTX_new(algorithm), "EVP_MAC_CTX_new")
        guard unsafe Self.begin(context, key) == 1 else {
            unsafe EVP_MAC_CTX_free(context)
            throw CryptoUnavailable(algorithm: "HMAC-SHA-256")
        }
        unsafe keyed = context
    }

    deinit { unsafe EVP_MAC_CTX_free(keyed) }

    /// `OSSL_PARAM` keeps the pointers that it is given: a static name, and a value that lives until `init` is done.
    private static func begin(_ context: OpaquePointer, _ key: SecretBytes) -> Int32 {
        let name: StaticString = "digest"
        var digest = Array("SHA256".utf8CString)
        return unsafe digest.withUnsafeMutableBufferPointer { text in
            let parameters = unsafe [
                name.utf8Start.withMemoryRebound(to: CChar.self, capacity: 7) {
                    unsafe OSSL_PARAM_construct_utf8_string($0, text.baseAddress, 0)
                },
                OSSL_PARAM_construct_end(),
            ]
            let material = unsafe key.buffer.bindMemory(to: UInt8.self)
            return unsafe EVP_MAC_init(context, material.baseAddress, material.count, parameters)
        }
    }

    /// The MAC over the parts one after the other, 32 bytes. The parts' borders are not part of it.
    package func mac(_ parts: [UInt8]...) -> [UInt8] {
        let context = unsafe check(EVP_MAC_CTX_dup(keyed), "EVP_MAC_CTX_dup")
        defer { unsafe EVP_MAC_CTX_free(context) }
        for part in parts {
            unsafe part.withUnsafeBufferPointer {
                check(unsafe EVP_MAC_update(context, $0.baseAddress, $0.count), "EVP_MAC_update")
            }
        }
        return unsafe [UInt8](unsafeUninitializedCapacity: 32) { buffer, filled in
            check(unsafe EVP_MAC_final(context, buffer.baseAddress, &filled, 32), "EVP_MAC_final")
        }
    }
}
