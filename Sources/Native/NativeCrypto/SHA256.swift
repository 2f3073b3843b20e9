// SPDX-License-Identifier: Apache-2.0
internal import COpenSSL

/// The SHA-256 of some bytes (FIPS 180-4), 32 bytes.
package func sha256(_ bytes: [UInt8]) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: 32) { digest, filled in
        let written = unsafe bytes.withUnsafeBufferPointer { input in
            unsafe SHA256(input.baseAddress, input.count, digest.baseAddress)
        }
        check(unsafe written == nil ? 0 : 1, "SHA256")
        filled = 32
    }
}

/// The SHA-256 of a text's UTF-8 bytes, 32 bytes.
package func sha256(_ text: String) -> [UInt8] { sha256(Array(text.utf8)) }

/// SHA-256 for who needs it often: the algorithm is fetched once, which takes longer than a short digest.
///
/// Unchecked: a fetched algorithm is never written, and its references are counted atomically.
@safe package final class SHA256Digest: @unchecked Sendable {
    private let algorithm: OpaquePointer

    /// - Throws: ``CryptoUnavailable`` where OpenSSL gives no SHA-256.
    package init() throws(CryptoUnavailable) {
        guard let fetched = unsafe EVP_MD_fetch(nil, "SHA256", nil) else {
            throw CryptoUnavailable(algorithm: "SHA256")
        }
        unsafe algorithm = fetched
    }

    deinit { unsafe EVP_MD_free(algorithm) }

    /// The SHA-256 of some bytes, 32 bytes.
    package func callAsFunction(_ bytes: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 32) { digest, filled in
            check(unsafe EVP_Digest(bytes, bytes.count, digest.baseAddress, nil, algorithm, nil), "EVP_Digest")
            filled = 32
        }
    }
}
