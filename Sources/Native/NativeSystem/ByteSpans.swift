// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Bytes looked at where they lie. Over `text.utf8.span` a byte costs a few instructions; over `text.utf8`, which finds
/// out at each of them where it is, some forty.
extension Span<UInt8> {
    /// Whether each byte is one of those that are wanted.
    @inlinable package func allSatisfy(_ isWanted: (UInt8) -> Bool) -> Bool {
        for index in indices where !isWanted(self[index]) { return false }
        return true
    }

    @inlinable package func contains(_ byte: UInt8) -> Bool { !allSatisfy { $0 != byte } }

    /// Whether both are the same bytes.
    package func elementsEqual(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return unsafe withUnsafeBytes { these in
            unsafe other.withUnsafeBytes { those in
                guard let this = these.baseAddress, let that = those.baseAddress else { return true }
                return unsafe memcmp(this, that, these.count) == 0
            }
        }
    }
}
