// SPDX-License-Identifier: Apache-2.0
internal import COpenSSL
internal import NativeSystem

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

/// SHA-256 for who needs it often: the algorithm is fetched once, which takes longer than a short digest, and one
/// context serves all, one after the other.
package final class SHA256Digest: Sendable {
    private let state: Locked<DigestState>

    /// - Throws: ``CryptoUnavailable`` where OpenSSL gives no SHA-256.
    package init() throws(CryptoUnavailable) { state = Locked(try DigestState()) }

    /// The SHA-256 of some bytes, 32 bytes.
    package func callAsFunction(_ bytes: [UInt8]) -> [UInt8] { state.withLock { $0.digest(bytes) } }
}

/// OpenSSL's context of a digest; after each, it holds no more than that.
@safe private struct DigestState: ~Copyable {
    private let algorithm: OpaquePointer
    private let context: OpaquePointer

    init() throws(CryptoUnavailable) {
        guard let fetched = unsafe EVP_MD_fetch(nil, "SHA256", nil) else {
            throw CryptoUnavailable(algorithm: "SHA256")
        }
        unsafe algorithm = fetched
        unsafe context = check(EVP_MD_CTX_new(), "EVP_MD_CTX_new")
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
        unsafe EVP_MD_free(algorithm)
    }

    func digest(_ bytes: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 32) { digest, filled in
            check(unsafe EVP_DigestInit_ex2(context, algorithm, nil), "EVP_DigestInit_ex2")
            check(unsafe EVP_DigestUpdate(context, bytes, bytes.count), "EVP_DigestUpdate")
            check(unsafe EVP_DigestFinal_ex(context, digest.baseAddress, nil), "EVP_DigestFinal_ex")
            filled = 32
        }
    }
}
