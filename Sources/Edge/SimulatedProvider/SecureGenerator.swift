// SPDX-License-Identifier: Apache-2.0
import NativeCrypto

/// Numbers that nobody can guess, from OpenSSL.
package struct SecureGenerator: RandomNumberGenerator, Sendable {
    package init() {}

    package mutating func next() -> UInt64 { randomWord() }
}
