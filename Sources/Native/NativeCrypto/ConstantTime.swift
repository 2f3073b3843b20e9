// SPDX-License-Identifier: Apache-2.0
internal import COpenSSL

/// Whether both hold the same bytes, in a time that depends on their length only (CRYPTO_memcmp(3)).
package func isSameInConstantTime(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    return unsafe left.withUnsafeBytes { first in
        unsafe right.withUnsafeBytes { second in
            unsafe CRYPTO_memcmp(first.baseAddress, second.baseAddress, first.count) == 0
        }
    }
}
