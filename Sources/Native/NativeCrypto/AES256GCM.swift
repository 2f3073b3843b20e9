// SPDX-License-Identifier: Apache-2.0
internal import COpenSSL

/// AES-256 in Galois/Counter Mode (NIST SP 800-38D) with nonces of 96 and tags of 128 bits: the algorithm, fetched once.
///
/// Unchecked: a fetched algorithm is never written, and its references are counted atomically.
@safe package final class AES256GCM: @unchecked Sendable {
    package static let keyLength = 32
    package static let nonceLength = 12
    package static let tagLength = 16
    private let cipher: OpaquePointer

    /// - Throws: ``CryptoUnavailable`` where OpenSSL gives no AES-256-GCM.
    package init() throws(CryptoUnavailable) {
        guard let fetched = unsafe EVP_CIPHER_fetch(nil, "AES-256-GCM", nil) else {
            throw CryptoUnavailable(algorithm: "AES-256-GCM")
        }
        unsafe cipher = fetched
    }

    deinit { unsafe EVP_CIPHER_free(cipher) }

    /// That key, ready to seal and to open. Precondition: it has 32 bytes.
    package func key(_ material: SecretBytes) -> AES256GCMKey { AES256GCMKey(material, of: self) }

    /// A context that has worked in the key.
    func context(under key: SecretBytes, isSealing: Bool) -> GCMContext {
        let made = unsafe check(EVP_CIPHER_CTX_new(), "EVP_CIPHER_CTX_new")
        let material = unsafe key.buffer.bindMemory(to: UInt8.self)
        check(
            unsafe EVP_CipherInit_ex2(made, cipher, material.baseAddress, nil, isSealing ? 1 : 0, nil),
            "EVP_CipherInit_ex2")
        return unsafe GCMContext(made, isSealing: isSealing)
    }
}

/// OpenSSL's context of a cipher, with a key, for one direction: it takes one value after the other, each from its
/// nonce on. Wiped when it is let go of.
///
/// Unchecked: it has one owner, and may move to another thread with it.
@safe struct GCMContext: ~Copyable, @unchecked Sendable {
    private let context: OpaquePointer
    private let isSealing: Bool

    init(_ context: OpaquePointer, isSealing: Bool) {
        unsafe self.context = unsafe context
        self.isSealing = isSealing
    }

    deinit { unsafe EVP_CIPHER_CTX_free(context) }

    /// - Parameter envelope: ends with room for the tag.
    func seal(_ envelope: UnsafeMutableBufferPointer<UInt8>, from start: Int, binding associated: [UInt8]) {
        unsafe begin(UnsafeBufferPointer(envelope), from: start, binding: associated)
        let length = envelope.count - start - AES256GCM.tagLength
        let text = unsafe envelope.baseAddress?.advanced(by: start)
        var count: Int32 = 0
        check(unsafe EVP_EncryptUpdate(context, text, &count, text, Int32(length)), "EVP_EncryptUpdate")
        let end = unsafe text?.advanced(by: length)
        check(unsafe EVP_EncryptFinal_ex(context, end, &count), "EVP_EncryptFinal_ex")
        check(
            unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(AES256GCM.tagLength), end),
            "EVP_CTRL_AEAD_GET_TAG")
    }

    /// - Returns: whether all of it is authentic; else what lies in `plain` is nothing.
    func open(
        _ envelope: UnsafeBufferPointer<UInt8>, from start: Int, binding associated: [UInt8],
        into plain: UnsafeMutablePointer<UInt8>?
    ) -> Bool {
        unsafe begin(envelope, from: start, binding: associated)
        let length = envelope.count - start - AES256GCM.tagLength
        var tag = unsafe Array(envelope.suffix(AES256GCM.tagLength))
        var count: Int32 = 0
        check(
            unsafe EVP_DecryptUpdate(context, plain, &count, envelope.baseAddress?.advanced(by: start), Int32(length)),
            "EVP_DecryptUpdate")
        check(
            unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(AES256GCM.tagLength), &tag),
            "EVP_CTRL_AEAD_SET_TAG")
        return unsafe EVP_DecryptFinal_ex(context, plain?.advanced(by: length), &count) == 1
    }

    /// Takes the nonce before the text; what is before that, and what comes beside, is bound and not sealed.
    private func begin(_ envelope: UnsafeBufferPointer<UInt8>, from start: Int, binding associated: [UInt8]) {
        let head = unsafe UnsafeRawBufferPointer(
            start: envelope.baseAddress, count: start - AES256GCM.nonceLength)
        let nonce = unsafe envelope.baseAddress?.advanced(by: head.count)
        check(unsafe EVP_CipherInit_ex2(context, nil, nil, nonce, isSealing ? 1 : 0, nil), "EVP_CipherInit_ex2")
        let length = head.count + associated.count
        guard length > 0 else { return }
        // In one piece: each update costs OpenSSL more than the copy of some dozen bytes.
        unsafe withUnsafeTemporaryAllocation(byteCount: length, alignment: 1) { bound in
            unsafe bound.copyMemory(from: head)
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bound[head.count...])
            unsafe associated.withUnsafeBytes { unsafe rest.copyMemory(from: $0) }
            var count: Int32 = 0
            let bytes = unsafe bound.baseAddress?.assumingMemoryBound(to: UInt8.self)
            check(unsafe EVP_CipherUpdate(context, nil, &count, bytes, Int32(length)), "EVP_CipherUpdate")
        }
    }
}
