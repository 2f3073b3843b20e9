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
    private let stock = unsafe Locked(Stock(size: 4096, RAND_bytes))

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
        stock.withLock { stock in unsafe stock.take(count) { unsafe bytes.append(contentsOf: $0) } }
    }
}

/// Key material, from the generator that gives nothing else (RAND_priv_bytes(3)), drawn half a KiB at a time.
///
/// A key in stock is as safe as one that the generator would make next: whoever can read the one's memory can read the
/// other's. It is wiped as it leaves.
package final class KeyStock: Sendable {
    private let stock = unsafe Locked(Stock(size: 512, RAND_priv_bytes))

    package init() {}

    /// That many bytes, at most 64, that were never anywhere else.
    package func key(_ count: Int) -> SecretBytes {
        stock.withLock { stock in unsafe stock.take(count) { unsafe SecretBytes(copying: $0) } }
    }
}

/// What was drawn and not handed out yet.
@safe private struct Stock: ~Copyable {
    private let start: UnsafeMutableRawPointer
    private let size: Int
    private let generator: (UnsafeMutablePointer<UInt8>?, Int32) -> Int32
    private var used: Int

    init(size: Int, _ generator: @escaping (UnsafeMutablePointer<UInt8>?, Int32) -> Int32) {
        unsafe start = .allocate(byteCount: size, alignment: 8)
        self.size = size
        unsafe self.generator = generator
        used = size
    }

    deinit {
        unsafe OPENSSL_cleanse(start, size)
        unsafe start.deallocate()
    }

    mutating func take(into target: UnsafeMutableRawBufferPointer) {
        unsafe take(target.count) { unsafe target.copyMemory(from: $0) }
    }

    /// Lets `body` have the next bytes, and wipes them.
    mutating func take<Taken>(_ count: Int, _ body: (UnsafeRawBufferPointer) -> Taken) -> Taken {
        precondition(count <= 64, "more random bytes than are taken from the stock at once")
        if used + count > size {
            check(unsafe generator(start.assumingMemoryBound(to: UInt8.self), Int32(size)), "RAND_bytes")
            used = 0
        }
        let next = unsafe start + used
        defer {
            unsafe OPENSSL_cleanse(next, count)
            used += count
        }
        return unsafe body(UnsafeRawBufferPointer(start: next, count: count))
    }
}
