// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeCrypto

/// Randomness from OpenSSL's generator, seeded by the kernel.
package struct SystemEntropy: Entropy {
    private let stock = RandomStock()

    package init() {}

    package func randomBits() -> (UInt64, UInt64) { stock.words() }
}
