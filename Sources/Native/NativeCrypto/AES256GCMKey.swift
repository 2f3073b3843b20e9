// SPDX-License-Identifier: Apache-2.0
internal import COpenSSL
internal import NativeSystem

/// A key of AES-256-GCM. It is worked in at its first seal, and each further seal begins with a nonce alone, which takes
/// half the time.
///
/// Worked in, it lies in OpenSSL's memory as long as this is held, beside the key itself, and is wiped with it. What is
/// opened has a context of its own.
package final class AES256GCMKey: Sendable {
    private let algorithm: AES256GCM
    private let material: SecretBytes
    private let sealing = Locked(GCMContext?.none)

    init(_ material: SecretBytes, of algorithm: AES256GCM) {
        precondition(material.count == AES256GCM.keyLength, "a key of another length")
        self.algorithm = algorithm
        self.material = material
    }

    /// Seals where it lies: head ‖ nonce ‖ plaintext becomes head ‖ nonce ‖ ciphertext ‖ tag. The head is authenticated,
    /// and `associated` after it.
    ///
    /// No copy of the plaintext is made where `envelope` has room for the tag. Never seal twice with the same key and
    /// nonce. Precondition: a nonce of 12 bytes right before `start`.
    package func seal(_ envelope: inout [UInt8], from start: Int, binding associated: [UInt8]) {
        precondition(start >= AES256GCM.nonceLength, "no nonce")
        envelope.append(contentsOf: repeatElement(0, count: AES256GCM.tagLength))
        unsafe envelope.withUnsafeMutableBufferPointer { buffer in
            sealing.withLock { context in
                if context == nil { context = algorithm.context(under: material, isSealing: true) }
                unsafe context?.seal(buffer, from: start, binding: associated)
            }
        }
    }

    /// The plaintext of what ``seal(_:from:binding:)`` made.
    ///
    /// - Returns: nil where head, nonce, ciphertext, tag, associated data or key is not what it was sealed with.
    package func open(_ envelope: [UInt8], from start: Int, binding associated: [UInt8]) -> [UInt8]? {
        guard start >= AES256GCM.nonceLength, envelope.count >= start + AES256GCM.tagLength else { return nil }
        let length = envelope.count - start - AES256GCM.tagLength
        let context = algorithm.context(under: material, isSealing: false)
        var isAuthentic = false
        var plaintext = unsafe [UInt8](unsafeUninitializedCapacity: length + 1) { plain, filled in
            unsafe envelope.withUnsafeBufferPointer {
                unsafe isAuthentic = context.open($0, from: start, binding: associated, into: plain.baseAddress)
            }
            filled = length
        }
        if isAuthentic { return plaintext }
        ERR_clear_error()
        wipe(&plaintext)
        return nil
    }
}
