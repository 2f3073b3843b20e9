// SPDX-License-Identifier: Apache-2.0
internal import COpenSSL
internal import NativeSystem

/// Bytes that nobody can guess, from OpenSSL's generator of this thread, seeded by the kernel (RAND_bytes(3)).
///
/// It ends the process rather than answer with less: a nonce or key that repeats gives secrets away.
package func randomBytes(_ count: Int) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        check(unsafe RAND_bytes(buffer.baseAddress, Int32(count)), "RAND_bytes")
        filled = count
    }
}

/// Key material, from the generator of this thread that gives nothing else (RAND_priv_bytes(3)).
package func randomKey(_ count: Int) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        check(unsafe RAND_priv_bytes(buffer.baseAddress, Int32(count)), "RAND_priv_bytes")
        filled = count
    }
}

/// Nonces, salts and identifiers: what must not repeat and is no key.
///
/// OpenSSL's generator takes about as long for 16 bytes as for some hundred, so they are drawn 4 KiB at a time and
/// handed out once each: a byte is wiped as it leaves, under a lock. What is in stock would be handed out twice by a
/// copy of the process; there is none, for nothing here forks and goes on (commands are run with posix_spawn(3)).
package final class RandomStock: Sendable {
    private let stock = Locked(Stock())

    package init() {}

    /// 128 bits, in one draw.
    package func words() -> (UInt64, UInt64) {
        stock.withLock { stock in
            var words: (UInt64, UInt64) = (0, 0)
            unsafe withUnsafeMutableBytes(of: &words) { unsafe stock.take(into: $0) }
            return words
        }
    }

    /// Appends that many bytes, at most 64.
    package func append(_ count: Int, to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: count))
        stock.withLock { stock in
            unsafe bytes.withUnsafeMutableBytes { unsafe stock.take(into: .init(rebasing: $0[start...])) }
        }
    }
}

/// What was drawn and not handed out yet.
@safe private struct Stock: ~Copyable {
    private static let size = 4096
    private let start = UnsafeMutableRawPointer.allocate(byteCount: Stock.size, alignment: 8)
    private var used = Stock.size

    deinit {
        unsafe OPENSSL_cleanse(start, Stock.size)
        unsafe start.deallocate()
    }

    mutating func take(into target: UnsafeMutableRawBufferPointer) {
        precondition(target.count <= 64, "more random bytes than are taken from the stock at once")
        if used + target.count > Stock.size {
            let bytes = unsafe start.assumingMemoryBound(to: UInt8.self)
            check(unsafe RAND_bytes(bytes, Int32(Stock.size)), "RAND_bytes")
            used = 0
        }
        let next = unsafe UnsafeRawBufferPointer(start: start + used, count: target.count)
        unsafe target.copyMemory(from: next)
        unsafe OPENSSL_cleanse(start + used, target.count)
        used += target.count
    }
}
