// SPDX-License-Identifier: Apache-2.0
internal import COpenSSL

/// Bytes that nobody can guess, from OpenSSL's generator of this thread, seeded by the kernel (RAND_bytes(3)).
///
/// It ends the process rather than answer with less: a nonce or key that repeats gives secrets away.
package func randomBytes(_ count: Int) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        check(unsafe RAND_bytes(buffer.baseAddress, Int32(count)), "RAND_bytes")
        filled = count
    }
}

/// 128 such bits, in one draw.
package func randomWords() -> (UInt64, UInt64) {
    var words: (UInt64, UInt64) = (0, 0)
    unsafe withUnsafeMutableBytes(of: &words) { bytes in
        check(unsafe RAND_bytes(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), 16), "RAND_bytes")
    }
    return words
}
