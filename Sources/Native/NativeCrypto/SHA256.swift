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
