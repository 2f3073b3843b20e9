// SPDX-License-Identifier: Apache-2.0
import NativeCrypto
import Testing

/// Test cases 13, 14 and 16 of "The Galois/Counter Mode of Operation", as submitted to NIST.
private struct Vector: Sendable {
    var key, nonce, plaintext, associated, ciphertext, tag: String
}

private let zeros = String(repeating: "0", count: 64)
private let vectors = [
    Vector(
        key: zeros, nonce: "000000000000000000000000", plaintext: "", associated: "", ciphertext: "",
        tag: "530f8afbc74536b9a963b4f1c4cb738b"),
    Vector(
        key: zeros, nonce: "000000000000000000000000", plaintext: "00000000000000000000000000000000", associated: "",
        ciphertext: "cea7403d4d606b6e074ec5d3baf39d18", tag: "d0d1c8a799996bf0265b98b5d48ab919"),
    Vector(
        key: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", nonce: "cafebabefacedbaddecaf888",
        plaintext: "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
            + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
        associated: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
        ciphertext: "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
            + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
        tag: "76fc6ece0f4e1768cddf8853bb2d551b"),
]

@Suite struct AES256GCMTests {
    private let cipher: AES256GCM

    init() throws {
        cipher = try AES256GCM()
    }

    @Test("the published vectors seal to the published bytes and open again", arguments: 0..<3)
    func vector(_ number: Int) {
        let vector = vectors[number]
        let key = cipher.key(SecretBytes(bytes(vector.key)))
        for cut in [0, bytes(vector.associated).count / 2, bytes(vector.associated).count] {
            // What is bound may lie before the nonce, or come beside, or both.
            let (head, rest) = (bytes(vector.associated).prefix(cut), Array(bytes(vector.associated).dropFirst(cut)))
            let start = cut + 12
            let envelope = head + bytes(vector.nonce + vector.plaintext)
            var sealed = Array(envelope)
            key.seal(&sealed, from: start, binding: rest)
            #expect(sealed == Array(head) + bytes(vector.nonce + vector.ciphertext + vector.tag))
            // Its state of the value before plays no part.
            var again = Array(envelope)
            key.seal(&again, from: start, binding: rest)
            #expect(again == sealed)
            #expect(key.open(sealed, from: start, binding: rest) == bytes(vector.plaintext))
            #expect(key.open(sealed, from: start, binding: rest) == bytes(vector.plaintext))
        }
    }

    @Test("an altered byte, nonce, binding or key does not open")
    func altered() {
        let vector = vectors[2]
        let key = cipher.key(SecretBytes(bytes(vector.key)))
        let (associated, good) = (bytes(vector.associated), [7] + bytes(vector.nonce + vector.plaintext))
        var sealed = good
        key.seal(&sealed, from: 13, binding: associated)
        #expect(key.open(sealed, from: 13, binding: associated) == bytes(vector.plaintext))
        for index in sealed.indices {
            var bad = sealed
            bad[index] ^= 0x40
            #expect(key.open(bad, from: 13, binding: associated) == nil)
        }
        var other = bytes(vector.key)
        other[31] ^= 1
        #expect(cipher.key(SecretBytes(other)).open(sealed, from: 13, binding: associated) == nil)
        #expect(key.open(sealed, from: 13, binding: associated + [0]) == nil)
        #expect(key.open(sealed, from: 13, binding: []) == nil)
        #expect(key.open(sealed, from: 12, binding: associated) == nil)
        #expect(key.open(Array(sealed.prefix(28)), from: 13, binding: associated) == nil)
        #expect(key.open([], from: 13, binding: associated) == nil)
        #expect(key.open(sealed, from: 11, binding: associated) == nil)
    }

    @Test("many tasks seal and open with one key at once")
    func concurrently() async {
        let key = cipher.key(SecretBytes(random: 32))
        let failures = await withTaskGroup(of: Int.self, returning: Int.self) { group in
            for task in 0..<8 {
                group.addTask {
                    (0..<500).count { round in
                        let (nonce, plain) = (randomBytes(12), Array("task \(task) round \(round)".utf8))
                        var sealed = nonce + plain
                        key.seal(&sealed, from: 12, binding: [1])
                        return key.open(sealed, from: 12, binding: [1]) != plain
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(failures == 0)
    }
}
