// SPDX-License-Identifier: Apache-2.0
package import Consents
package import NativeCrypto

/// The ring's keys that sign checkpoints and receipts: one signs, the retired ones verify.
package struct EvidenceKeyRing: EvidenceSigner {
    package struct Key: Sendable {
        package let publicKey: ES256PublicKey
        /// Nil for a retired key of which only the public part was kept.
        package let privateKey: ES256PrivateKey?
        /// RFC 3339, as written in the file.
        package let createdAt: String
        /// When another took its place, if one did; a retired key still verifies.
        package let retiredAt: String?

        package init(
            publicKey: ES256PublicKey, privateKey: ES256PrivateKey?, createdAt: String, retiredAt: String?
        ) {
            self.publicKey = publicKey
            self.privateKey = privateKey
            self.createdAt = createdAt
            self.retiredAt = retiredAt
        }
    }

    package let currentID: String
    package let keys: [String: Key]
    private let signing: ES256PrivateKey

    /// - Throws: ``KeyRingFailure`` where a name is none, or the current key is missing, retired, or without its
    ///   private part.
    package init(currentID: String, keys: [String: Key]) throws(KeyRingFailure) {
        for id in keys.keys.sorted() where !KeyRing.isKeyID(id) { throw .badKeyID }
        guard let current = keys[currentID] else { throw .currentEvidenceKeyMissing }
        guard current.retiredAt == nil, let signing = current.privateKey else { throw .currentEvidenceKeyRetired }
        self.currentID = currentID
        self.keys = keys
        self.signing = signing
    }

    /// A new key, alone.
    /// - Throws: ``KeyRingFailure/unavailable(_:)``.
    package static func generate(at now: Instant) throws(KeyRingFailure) -> EvidenceKeyRing {
        let made: ES256PrivateKey
        do throws(CryptoUnavailable) { made = try ES256PrivateKey() } catch { throw .unavailable(error) }
        let id = KeyRing.newID(prefix: "e", at: now)
        let key = Key(publicKey: made.publicKey, privateKey: made, createdAt: now.text, retiredAt: nil)
        return try EvidenceKeyRing(currentID: id, keys: [id: key])
    }

    package var keyID: String { currentID }

    package func signature(over message: [UInt8]) throws(VaultFailure) -> [UInt8] { signing.signature(over: message) }

    package var publicKeys: [EvidencePublicKey] {
        let latestFirst = keys.sorted { left, right in
            if left.key == currentID || right.key == currentID { return left.key == currentID }
            return (left.value.createdAt, left.key) > (right.value.createdAt, right.key)
        }
        return latestFirst.map { EvidencePublicKey(keyID: $0.key, x: $0.value.publicKey.x, y: $0.value.publicKey.y) }
    }

    package func verdict(on signature: [UInt8], over message: [UInt8], keyID: String) -> SignatureVerdict {
        guard let key = keys[keyID] else { return .keyUnknown }
        return key.publicKey.isSignature(signature, over: message) ? .holds : .fails
    }
}
