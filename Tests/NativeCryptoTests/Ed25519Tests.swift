// SPDX-License-Identifier: Apache-2.0
import NativeCrypto
import Testing

/// RFC 8032, section 7.1, tests 1 and 2.
private let vectors = [
    (
        key: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", message: "",
        signature: "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
            + "d25bf5f0595bbe24655141438e7a100b"
    ),
    (
        key: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", message: "72",
        signature: "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
            + "387b2eaeb4302aeeb00d291612bb0c00"
    ),
]

@Suite struct Ed25519Tests {
    @Test("the published signatures hold, over the published messages and by the published keys only")
    func published() throws {
        for (number, vector) in vectors.enumerated() {
            let key = try #require(Ed25519PublicKey(bytes(vector.key)))
            let signature = bytes(vector.signature)
            #expect(key.verifies(signature, over: bytes(vector.message)))
            #expect(!key.verifies(signature, over: bytes(vector.message) + [0]))
            #expect(!key.verifies(bytes(vectors[1 - number].signature), over: bytes(vector.message)))
            for index in signature.indices {
                var altered = signature
                altered[index] ^= 1
                #expect(!key.verifies(altered, over: bytes(vector.message)))
            }
        }
    }

    @Test("a second form of the same signature does not hold, nor does another length")
    func forms() throws {
        let vector = vectors[0]
        let key = try #require(Ed25519PublicKey(bytes(vector.key)))
        // S plus the order of the group, little-endian (RFC 8032, section 5.1.7).
        let order = bytes("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
        var signature = bytes(vector.signature)
        var carry = 0
        for index in 0..<32 {
            let sum = Int(signature[32 + index]) + Int(order[index]) + carry
            signature[32 + index] = UInt8(truncatingIfNeeded: sum)
            carry = sum >> 8
        }
        #expect(carry == 0 && !key.verifies(signature, over: []))
        for wrong in [[], bytes(vector.signature).dropLast(), bytes(vector.signature) + [0]] as [[UInt8]] {
            #expect(!key.verifies(wrong, over: []))
        }
        #expect(!key.verifies(Array(repeating: 0, count: 64), over: []))
        for length in [0, 31, 33] { #expect(Ed25519PublicKey(Array(repeating: 1, count: length)) == nil) }
    }

    @Test("the longer digests give the published values")
    func digests() {
        let abc = Array("abc".utf8)
        #expect(DigestAlgorithm.sha256.digest(of: abc) == sha256("abc"))
        #expect(
            DigestAlgorithm.sha384.digest(of: abc)
                == bytes(
                    "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"))
        #expect(
            DigestAlgorithm.sha512.digest(of: abc)
                == bytes(
                    "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd"
                        + "454d4423643ce80e2a9ac94fa54ca49f"))
    }
}
