// SPDX-License-Identifier: Apache-2.0
internal import COpenSSL
internal import NativeSystem

/// HMAC-SHA-256 under one key (RFC 2104, FIPS 198-1).
///
/// The key is worked in once, into a state that every MAC begins with again, one after the other: a MAC takes less time
/// than a copy of that state would (EVP_MAC_CTX_dup(3) allocates ten times).
package final class HMACSHA256: Sendable {
    private let state: Locked<KeyedState>

    /// - Throws: ``CryptoUnavailable`` where OpenSSL gives no HMAC or no SHA-256.
    package init(key: SecretBytes) throws(CryptoUnavailable) { state = Locked(try KeyedState(key)) }

    /// The MAC over the parts one after the other, 32 bytes. The parts' borders are not part of it.
    package func mac(_ parts: [UInt8]...) -> [UInt8] {
        state.withLock { state in
            state.begin()
            for part in parts { state.update(part) }
            return state.final()
        }
    }
}

/// OpenSSL's context of a MAC, with a key; wiped when it is let go of.
@safe private struct KeyedState: ~Copyable {
    private let context: OpaquePointer

    init(_ key: SecretBytes) throws(CryptoUnavailable) {
        guard let algorithm = unsafe EVP_MAC_fetch(nil, "HMAC", nil) else {
            throw CryptoUnavailable(algorithm: "HMAC")
        }
        defer { unsafe EVP_MAC_free(algorithm) }
        let made = unsafe check(EVP_MAC_CTX_new(algorithm), "EVP_MAC_CTX_new")
        guard unsafe Self.take(key, made) == 1 else {
            unsafe EVP_MAC_CTX_free(made)
            throw CryptoUnavailable(algorithm: "HMAC-SHA-256")
        }
        unsafe context = made
    }

    deinit { unsafe EVP_MAC_CTX_free(context) }

    /// `OSSL_PARAM` keeps the pointers that it is given: a static name, and a value that lives until `init` is done.
    private static func take(_ key: SecretBytes, _ context: OpaquePointer) -> Int32 {
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

    /// Begins anew under the same key (EVP_MAC_init(3): a null key).
    func begin() { check(unsafe EVP_MAC_init(context, nil, 0, nil), "EVP_MAC_init") }

    func update(_ part: [UInt8]) {
        unsafe part.withUnsafeBufferPointer {
            check(unsafe EVP_MAC_update(context, $0.baseAddress, $0.count), "EVP_MAC_update")
        }
    }

    func final() -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 32) { buffer, filled in
            check(unsafe EVP_MAC_final(context, buffer.baseAddress, &filled, 32), "EVP_MAC_final")
        }
    }
}
