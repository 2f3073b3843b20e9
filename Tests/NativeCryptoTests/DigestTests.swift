// SPDX-License-Identifier: Apache-2.0
import NativeCrypto
import Testing

@Suite struct DigestTests {
    @Test("SHA-256 gives the values of FIPS 180-4's examples")
    func sha() throws {
        let hash = try SHA256Digest()
        for text in ["", "abc", "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"] {
            #expect(hash(Array(text.utf8)) == sha256(text))
        }
        #expect(sha256("abc") == bytes("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
        #expect(sha256([]) == bytes("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"))
        #expect(
            sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
                == bytes("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"))
    }

    @Test(
        "HMAC-SHA-256 gives the values of RFC 4231",
        arguments: [
            (
                String(repeating: "0b", count: 20), "4869205468657265",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                "4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                String(repeating: "aa", count: 131),
                "54657374205573696e67204c6172676572205468616e20426c6f636b2d53697a65204b6579202d2048617368204b6579204669727374",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ])
    func hmac(key: String, message: String, expected: String) throws {
        let hmac = try HMACSHA256(key: SecretBytes(bytes(key)))
        let message = bytes(message)
        #expect(hmac.mac(message) == bytes(expected))
        #expect(hmac.mac(Array(message.prefix(3)), [], Array(message.dropFirst(3))) == bytes(expected))
    }

    @Test("equal bytes are the same, others and other lengths are not")
    func comparison() {
        #expect(isSameInConstantTime([1, 2, 3], [1, 2, 3]))
        #expect(isSameInConstantTime([], []))
        #expect(!isSameInConstantTime([1, 2, 3], [1, 2, 4]))
        #expect(!isSameInConstantTime([1, 2, 3], [1, 2]))
    }

    @Test("random bytes come in the length asked for and differ")
    func random() {
        #expect(randomBytes(0) == [])
        #expect(randomBytes(32).count == 32)
        #expect(Set((0..<1000).map { _ in randomBytes(16) }).count == 1000)
        #expect(randomKey(32).count == 32 && randomKey(32) != randomKey(32))
    }

    @Test("a stock of random bytes gives none of them twice, to many tasks at once")
    func stock() async {
        let stock = RandomStock()
        let words = await withTaskGroup(of: [UInt64].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<500).flatMap { _ in
                        let words = stock.words()
                        var bytes: [UInt8] = [9]
                        stock.append(12, to: &bytes)
                        let drawn = bytes[1...8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                        return bytes[0] == 9 && bytes.count == 13 ? [words.0, words.1, drawn] : []
                    }
                }
            }
            return await group.reduce(into: [UInt64]()) { $0 += $1 }
        }
        #expect(Set(words).count == 8 * 500 * 3)
        var none: [UInt8] = []
        stock.append(0, to: &none)
        #expect(none.isEmpty)
    }

    @Test("many tasks make MACs under one key at once")
    func concurrentMACs() async throws {
        let hmac = try HMACSHA256(key: SecretBytes([UInt8](repeating: 5, count: 32)))
        let expected = (0..<64).map { hmac.mac([UInt8](repeating: UInt8($0), count: $0)) }
        #expect(Set(expected).count == 64)
        let same = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<64).allSatisfy { hmac.mac([UInt8](repeating: UInt8($0), count: $0)) == expected[$0] }
                }
            }
            return await group.reduce(true) { $0 && $1 }
        }
        #expect(same)
    }

    @Test("key material prints as one fixed word and gives its bytes to who asks")
    func secretBytes() {
        let secret = SecretBytes(Array("hush".utf8))
        #expect("\(secret)" == "redacted")
        #expect(String(reflecting: secret) == "redacted")
        #expect(!String(describing: Mirror(reflecting: secret).children.map(\.value)).contains("104"))
        #expect(secret.reveal() == Array("hush".utf8))
        var bytes: [UInt8] = [1, 2, 3]
        wipe(&bytes)
        #expect(bytes.isEmpty)
    }
}
