// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
    /// Appends a number in eight bytes, the most significant first, in one piece.
    package mutating func append(bigEndian number: UInt64) {
        unsafe Swift.withUnsafeBytes(of: number.bigEndian) { unsafe append(contentsOf: $0) }
    }

    /// Appends a byte, and a number in four after it, the most significant first.
    package mutating func append(_ byte: UInt8, bigEndian number: UInt32) {
        let word = (UInt64(byte) << 32 | UInt64(number)) << 24
        unsafe Swift.withUnsafeBytes(of: word.bigEndian) {
            unsafe append(contentsOf: UnsafeRawBufferPointer(start: $0.baseAddress, count: 5))
        }
    }

    /// Overwrites four bytes with a number, the most significant first. Precondition: the array has them.
    package mutating func overwrite(from place: Int, bigEndian number: UInt32) {
        unsafe withUnsafeMutableBytes {
            unsafe $0.storeBytes(of: number.bigEndian, toByteOffset: place, as: UInt32.self)
        }
    }
}
