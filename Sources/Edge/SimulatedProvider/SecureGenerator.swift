// SPDX-License-Identifier: Apache-2.0
import NativeCrypto

/// Numbers that nobody can guess, from OpenSSL; fetched 128 at a time, because its price is by the call.
package struct SecureGenerator: RandomNumberGenerator, Sendable {
    private var stock: [UInt8] = []

    package init() {}

    package mutating func next() -> UInt64 {
        if stock.count < 8 { stock = randomBytes(1024) }
        let word = stock.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        stock.removeLast(8)
        return word
    }
}
