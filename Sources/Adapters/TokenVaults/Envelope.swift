// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeCrypto

/// Version ‖ length of the key's name ‖ the key's name ‖ nonce ‖ ciphertext ‖ tag.
///
/// The first three are authenticated with the value's place: an envelope in another consent, column or generation does
/// not open. Nonces are random: a consent's key seals a few thousand values in its life and a ring's key fewer than
/// 2^32, the bound of NIST SP 800-38D, section 8.3.
struct Envelope {
    static let version: UInt8 = 1
    /// Stands for the consent's own key, in the envelopes under it.
    static let consentKeyID = "consent"

    let keyID: String
    private let header: ArraySlice<UInt8>
    private let nonce: ArraySlice<UInt8>
    private let sealed: ArraySlice<UInt8>

    /// The parts of an envelope; nil where it is none or of another version.
    init?(_ bytes: [UInt8]) {
        guard bytes.count > 2, bytes[0] == Self.version else { return nil }
        let headerEnd = 2 + Int(bytes[1])
        let nonceEnd = headerEnd + AES256GCM.nonceLength
        guard bytes.count >= nonceEnd + AES256GCM.tagLength,
            let keyID = String(validating: bytes[2..<headerEnd], as: UTF8.self)
        else { return nil }
        self.keyID = keyID
        header = bytes[..<headerEnd]
        nonce = bytes[headerEnd..<nonceEnd]
        sealed = bytes[nonceEnd...]
    }

    /// The value; nil where envelope, key or place is another.
    func open(with cipher: AES256GCM, under key: SecretBytes, at place: Place) -> [UInt8]? {
        cipher.open(sealed, under: key, nonce: Array(nonce), binding: header + place.bytes)
    }

    static func seal(
        _ plaintext: [UInt8], with cipher: AES256GCM, under key: SecretBytes, named keyID: String, at place: Place
    ) -> SealedBytes {
        var envelope: [UInt8] = []
        envelope.reserveCapacity(2 + keyID.utf8.count + 28 + plaintext.count)
        envelope += [version, UInt8(keyID.utf8.count)]
        envelope += keyID.utf8
        let binding = envelope + place.bytes
        let nonce = randomBytes(AES256GCM.nonceLength)
        envelope += nonce
        cipher.seal(plaintext, under: key, nonce: nonce, binding: binding, appendingTo: &envelope)
        return SealedBytes(envelope)
    }
}

/// Where a sealed value belongs, as associated data.
struct Place {
    let bytes: [UInt8]

    /// The consent's 16 bytes ‖ the column's name ‖ the generation in 8 bytes, 0 where there is none. Both ends have a
    /// fixed length, so no two places give the same bytes.
    init(_ id: ConsentID, column: String, generation: Int64 = 0) {
        var bytes = id.uuid.bytes
        bytes += column.utf8
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: generation >> shift))
        }
        self.bytes = bytes
    }

    /// The purpose ‖ the code's digest of 32 bytes, for what lies beside a code's reservation.
    init(purpose: String, code: BlindIndex) {
        bytes = Array(purpose.utf8) + code.bytes
    }

    /// The purpose ‖ the 16 bytes of a row's identifier, for what waits in an outbox.
    init(purpose: String, id: UUIDv7) {
        bytes = Array(purpose.utf8) + id.bytes
    }
}
