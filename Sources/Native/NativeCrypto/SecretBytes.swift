// SPDX-License-Identifier: Apache-2.0
internal import COpenSSL

/// Key material in memory of its own that is wiped when its last owner lets go (OPENSSL_cleanse(3)).
///
/// Swift's arrays may be copied by the runtime and are not wiped; what is made from one here should be wiped by
/// ``wipe(_:)`` right after. Unchecked: the memory is written once, before anybody else can see it.
@safe package final class SecretBytes: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
    private let start: UnsafeMutableRawPointer
    package let count: Int

    /// A copy of those bytes.
    package init(_ bytes: [UInt8]) {
        count = bytes.count
        unsafe start = bytes.withUnsafeBytes { unsafe SecretBytes.copy(of: $0) }
    }

    init(copying bytes: UnsafeRawBufferPointer) {
        count = bytes.count
        unsafe start = SecretBytes.copy(of: bytes)
    }

    private static func copy(of bytes: UnsafeRawBufferPointer) -> UnsafeMutableRawPointer {
        let start = UnsafeMutableRawPointer.allocate(byteCount: max(1, bytes.count), alignment: 8)
        unsafe start.copyMemory(from: bytes.baseAddress ?? UnsafeRawPointer(start), byteCount: bytes.count)
        return unsafe start
    }

    /// New key material from the random generator.
    package convenience init(random count: Int) {
        var bytes = randomKey(count)
        self.init(bytes)
        wipe(&bytes)
    }

    deinit {
        unsafe OPENSSL_cleanse(start, count)
        unsafe start.deallocate()
    }

    /// A copy, for the one place that writes the material into a file or under a seal.
    package func reveal() -> [UInt8] { unsafe Array(buffer) }

    /// Appends the material, for the one place that writes it under a seal.
    package func append(to bytes: inout [UInt8]) { unsafe bytes.append(contentsOf: buffer) }

    var buffer: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: start, count: count) }

    package var description: String { "redacted" }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// Overwrites the bytes of an array that nobody else holds, then empties it. A copy elsewhere stays as it is.
package func wipe(_ bytes: inout [UInt8]) {
    unsafe bytes.withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, $0.count) }
    bytes = []
}
