// SPDX-License-Identifier: Apache-2.0
/// Where the keys that sign evidence come from: a ring that may change while the program runs.
package protocol EvidenceKeys: Sendable {
    /// The keys as they are now. Take it once a document: its `keyID` and its signatures belong together.
    var evidenceSigner: any EvidenceSigner { get }
}

/// What checkpoints are built with and named by.
package protocol EvidenceHash: Sendable {
    /// 32 bytes (FIPS 180-4).
    func sha256(_ bytes: [UInt8]) -> [UInt8]
}

/// What signs checkpoints and receipts, and verifies what was signed before: ES256 (RFC 7518, section 3.4).
///
/// One moment's keys: it does not change when the ring does.
package protocol EvidenceSigner: Sendable {
    /// The key that signs.
    var keyID: String { get }
    /// r ‖ s, 64 bytes, under ``keyID``.
    /// - Throws: ``VaultFailure/keyMissing(keyID:)`` where the key cannot be used.
    func signature(over message: [UInt8]) throws(VaultFailure) -> [UInt8]
    /// The key that signs first, then the retired ones, the latest first.
    var publicKeys: [EvidencePublicKey] { get }
    /// Whether that key made the signature (r ‖ s) over the message.
    func verdict(on signature: [UInt8], over message: [UInt8], keyID: String) -> SignatureVerdict
}

/// The public part of an evidence key: a point on P-256.
package struct EvidencePublicKey: Sendable, Equatable {
    package let keyID: String
    /// 32 bytes each, big-endian.
    package let x: [UInt8]
    package let y: [UInt8]

    package init(keyID: String, x: [UInt8], y: [UInt8]) {
        self.keyID = keyID
        self.x = x
        self.y = y
    }
}

/// What a signature turned out to be.
package enum SignatureVerdict: Sendable, Equatable {
    case holds
    /// Another message or key, or no signature at all.
    case fails
    /// The ring does not hold the key that it names.
    case keyUnknown
}
