// SPDX-License-Identifier: Apache-2.0
internal import CCjose
internal import NativeCrypto

/// A public key of cjose's, RSA or EC.
///
/// Unchecked: the key is only read once it was made, and cjose's own count of references, which is not atomic, is not
/// used.
@safe final class CjoseKey: @unchecked Sendable {
    private let key: OpaquePointer

    /// The key of a JWK in JSON; nil where it is none, such as a point that is not on its curve.
    init?(_ jwk: [UInt8]) {
        let made = unsafe jwk.withUnsafeBytes { bytes in
            unsafe check(
                cjose_jwk_import(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, nil))
        }
        guard let made = unsafe made else { return nil }
        unsafe key = made
    }

    deinit { _ = unsafe cjose_jwk_release(key) }

    /// Whether the token in compact form was signed, with the algorithm that its header names, by this key's owner.
    func verifies(_ compact: [UInt8]) -> Bool {
        let imported = unsafe compact.withUnsafeBytes { bytes in
            unsafe check(
                cjose_jws_import(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, nil))
        }
        guard let token = unsafe imported else { return false }
        defer { unsafe cjose_jws_release(token) }
        return unsafe check(cjose_jws_verify(token, key, nil))
    }
}

/// What becomes of each result of cjose. Its message is not asked for: what went wrong is told by whoever asked.
///
/// OpenSSL's complaints are forgotten too, for the next library on this thread would find them.
private func check(_ isDone: Bool) -> Bool {
    if !isDone { clearCryptoComplaints() }
    return isDone
}

/// The same for calls that make something; nil where there is nothing.
private func check(_ made: OpaquePointer?) -> OpaquePointer? {
    if unsafe made == nil { clearCryptoComplaints() }
    return unsafe made
}
