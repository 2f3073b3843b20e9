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
    /// - Parameter open: opens an envelope from that byte on, bound to those.
    func opened(at place: Place, by open: ([UInt8], Int, [UInt8]) -> [UInt8]?) -> [UInt8]? {
        open(bytes, start, place.bytes)
    }

    /// An envelope around what `write` appends, made in one buffer: the value is never anywhere else.
    /// - Parameters:
    ///   - room: how many bytes `write` appends; with more, a copy would stay behind in memory.
    ///   - seal: seals an envelope from that byte on, bound to those.
    static func sealing(
        room: Int, named keyID: String, at place: Place, nonce random: RandomStock,
        _ write: (inout [UInt8]) -> Void, by seal: (inout [UInt8], Int, [UInt8]) -> Void
    ) -> SealedBytes {
        let head = 2 + keyID.utf8.count
        var envelope: [UInt8] = []
        envelope.reserveCapacity(head + AES256GCM.nonceLength + room + AES256GCM.tagLength)
        envelope.append(version)
        envelope.append(UInt8(keyID.utf8.count))
        envelope.append(contentsOf: keyID.utf8)
        random.append(AES256GCM.nonceLength, to: &envelope)
        let start = envelope.count
        write(&envelope)
        precondition(envelope.count == start + room, "a value of another length than was said")
        seal(&envelope, start, place.bytes)
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
        bytes.append(contentsOf: column.utf8)
        bytes.append(bigEndian: generation)
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

extension [UInt8] {
    /// The bytes of a number, most significant first.
    mutating func append(bigEndian number: some FixedWidthInteger) {
        for shift in stride(from: number.bitWidth - 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}
