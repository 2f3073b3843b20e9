// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeCrypto
internal import NativeSystem

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
    private let bytes: [UInt8]
    /// Where the ciphertext begins.
    private let start: Int

    /// The parts of an envelope; nil where it is none or of another version.
    init?(_ bytes: [UInt8]) {
        guard bytes.count > 2, bytes[0] == Self.version else { return nil }
        let headerEnd = 2 + Int(bytes[1])
        start = headerEnd + AES256GCM.nonceLength
        guard bytes.count >= start + AES256GCM.tagLength,
            let keyID = String(validating: bytes[2..<headerEnd], as: UTF8.self)
        else { return nil }
        self.keyID = keyID
        self.bytes = bytes
    }

    /// The value; nil where envelope, key or place is another.
    func opened(at place: Place, with key: AES256GCMKey) -> [UInt8]? {
        key.open(bytes, from: start, binding: place.bytes)
    }

    /// An envelope around what `write` appends, made in one buffer: the value is never anywhere else.
    /// - Parameter room: how many bytes `write` appends; with more, a copy would stay behind in memory.
    static func sealing(
        room: Int, with key: AES256GCMKey, named keyID: String, at place: Place, nonce random: RandomStock,
        _ write: (inout [UInt8]) -> Void
    ) -> SealedBytes {
        let head = 2 + keyID.utf8.count
        var envelope: [UInt8] = []
        envelope.reserveCapacity(head + AES256GCM.nonceLength + room + AES256GCM.tagLength)
        envelope.append(version)
        envelope.append(UInt8(keyID.utf8.count))
        envelope.append(text: keyID)
        random.append(AES256GCM.nonceLength, to: &envelope)
        let start = envelope.count
        write(&envelope)
        precondition(envelope.count == start + room, "a value of another length than was said")
        key.seal(&envelope, from: start, binding: place.bytes)
        return SealedBytes(envelope)
    }
}

/// Where a sealed value belongs, as associated data.
struct Place {
    let bytes: [UInt8]

    /// The consent's 16 bytes ‖ the column's name ‖ the generation in 8 bytes, 0 where there is none. Both ends have a
    /// fixed length, so no two places give the same bytes.
    init(_ id: ConsentID, column: String, generation: Int64 = 0) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24 + column.utf8.count)
        bytes.append(bigEndian: id.uuid.high)
        bytes.append(bigEndian: id.uuid.low)
        bytes.append(text: column)
        bytes.append(bigEndian: UInt64(bitPattern: generation))
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
