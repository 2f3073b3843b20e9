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
        let key = SecretBytes(bytes(vector.key))
        var sealed: [UInt8] = [9]
        cipher.seal(
            bytes(vector.plaintext), under: key, nonce: bytes(vector.nonce), binding: bytes(vector.associated),
            appendingTo: &sealed)
        #expect(sealed == [9] + bytes(vector.ciphertext + vector.tag))
        let opened = cipher.open(
            sealed[1...], under: key, nonce: bytes(vector.nonce), binding: bytes(vector.associated))
        #expect(opened == bytes(vector.plaintext))
    }

    @Test("an altered byte, nonce, binding or key does not open")
    func altered() {
        let vector = vectors[2]
        let (key, nonce) = (SecretBytes(bytes(vector.key)), bytes(vector.nonce))
        let (associated, good) = (bytes(vector.associated), bytes(vector.ciphertext + vector.tag))
        for index in good.indices {
            var bad = good
            bad[index] ^= 0x40
            #expect(cipher.open(bad[...], under: key, nonce: nonce, binding: associated) == nil)
        }
        var other = bytes(vector.key)
        other[31] ^= 1
        #expect(cipher.open(good[...], under: SecretBytes(other), nonce: nonce, binding: associated) == nil)
        #expect(cipher.open(good[...], under: key, nonce: Array(nonce.reversed()), binding: associated) == nil)
        #expect(cipher.open(good[...], under: key, nonce: nonce, binding: associated + [0]) == nil)
        #expect(cipher.open(good[...], under: key, nonce: nonce, binding: []) == nil)
        #expect(cipher.open(good.prefix(15), under: key, nonce: nonce, binding: associated) == nil)
        #expect(cipher.open([], under: key, nonce: nonce, binding: associated) == nil)
    }

    @Test("many tasks seal and open with one cipher at once")
    func concurrently() async {
        let key = SecretBytes(random: 32)
        let cipher = cipher
        let failures = await withTaskGroup(of: Int.self, returning: Int.self) { group in
            for task in 0..<8 {
                group.addTask {
                    (0..<500).count { round in
                        let (nonce, plain) = (randomBytes(12), Array("task \(task) round \(round)".utf8))
                        var sealed: [UInt8] = []
                        cipher.seal(plain, under: key, nonce: nonce, binding: [1], appendingTo: &sealed)
                        return cipher.open(sealed[...], under: key, nonce: nonce, binding: [1]) != plain
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(failures == 0)
    }
}
