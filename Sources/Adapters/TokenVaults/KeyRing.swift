// SPDX-License-Identifier: Apache-2.0
package import Consents
package import NativeCrypto

/// The keys that everything sealed hangs on: those that seal, one of which is the current, two that never change, and
/// those that sign evidence.
///
/// Each has one purpose. The index key is never rotated: a digest made with another key would find nothing.
package struct KeyRing: Sendable {
    /// One key that seals consent keys, grants and statements.
    package struct SealingKey: Sendable {
        package let material: SecretBytes
        /// RFC 3339, as written in the file.
        package let createdAt: String
        /// When another took its place, if one did; a retired key still opens.
        package let retiredAt: String?

        package init(material: SecretBytes, createdAt: String, retiredAt: String?) {
            self.material = material
            self.createdAt = createdAt
            self.retiredAt = retiredAt
        }
    }

    /// Bytes of every key.
    package static let keyLength = 32

    package let currentID: String
    package let current: SealingKey
    package let keys: [String: SealingKey]
    package let indexKey: SecretBytes
    package let ledgerKey: SecretBytes
    package let evidence: EvidenceKeyRing

    /// - Throws: ``KeyRingFailure`` where a name cannot stand in an envelope, the current key is missing or retired, or
    ///   one key has two purposes.
    package init(
        currentID: String, keys: [String: SealingKey], indexKey: SecretBytes, ledgerKey: SecretBytes,
        evidence: EvidenceKeyRing
    ) throws(KeyRingFailure) {
        for id in keys.keys.sorted() where !KeyRing.isKeyID(id) { throw .badKeyID }
        guard let current = keys[currentID] else { throw .currentKeyMissing }
        guard current.retiredAt == nil else { throw .currentKeyRetired }
        let all = keys.values.map(\.material) + [indexKey, ledgerKey]
        guard Set(all.map { sha256($0.reveal()) }).count == all.count else { throw .keyWithTwoPurposes }
        self.currentID = currentID
        self.current = current
        self.keys = keys
        self.indexKey = indexKey
        self.ledgerKey = ledgerKey
        self.evidence = evidence
    }

    /// A new ring: one sealing key, the index key and the ledger key, each 256 random bits, and one key that signs.
    package static func generate(at now: Instant) throws(KeyRingFailure) -> KeyRing {
        let id = newID(prefix: "k", at: now)
        let key = SealingKey(material: SecretBytes(random: keyLength), createdAt: now.text, retiredAt: nil)
        return try KeyRing(
            currentID: id, keys: [id: key], indexKey: SecretBytes(random: keyLength),
            ledgerKey: SecretBytes(random: keyLength), evidence: EvidenceKeyRing.generate(at: now))
    }

    /// A key's name: what it is for, its day, and 32 random bits.
    static func newID(prefix: String, at now: Instant) -> String {
        prefix + now.text.prefix(10).filter { $0 != "-" } + "-" + Hexadecimal.text(of: randomBytes(4))
    }

    /// 1 to 32 letters, digits, `.`, `_` and `-`, but not the word that stands in envelopes under a consent's own key.
    static func isKeyID(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count) && text != Envelope.consentKeyID
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
                default: false
                }
            }
    }
}
