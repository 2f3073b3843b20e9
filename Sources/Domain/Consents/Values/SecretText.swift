// SPDX-License-Identifier: Apache-2.0
/// A value that must never be printed: a token, a code verifier, a client secret, an opened attribute.
///
/// Every way in which Swift prints a value answers the same fixed word; the text itself comes out of `reveal()` only.
package struct SecretText: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private let text: String

    package init(_ text: String) { self.text = text }

    /// The text, for the one place that puts it on the wire or under a seal.
    package func reveal() -> String { text }

    package var isEmpty: Bool { text.isEmpty }
    package var description: String { "redacted" }
    package var debugDescription: String { "redacted" }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// What the vault made of a secret: an envelope that may lie in the store.
package struct SealedBytes: Hashable, Sendable {
    package let bytes: [UInt8]
    package init(_ bytes: [UInt8]) { self.bytes = bytes }
}

/// A keyed digest of 32 bytes that lets the store find a value which it cannot read.
package struct BlindIndex: Hashable, Sendable {
    package let bytes: [UInt8]
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// By its first eight bytes: nobody without the key can choose them, and Swift would hash all 32 one by one.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(bytes.prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
    }
}
