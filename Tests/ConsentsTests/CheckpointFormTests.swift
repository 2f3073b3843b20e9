// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCrypto
import Testing

@Suite("Checkpoints and their tree")
struct CheckpointFormTests {
    /// The leaves of Certificate Transparency's own tests of RFC 6962.
    private static let leaves = [
        "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
    ]

    private func hash(_ bytes: [UInt8]) -> [UInt8] { sha256(bytes) }

    @Test(
        "a tree has the root of RFC 6962",
        arguments: [
            (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (1, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"),
            (2, "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"),
            (3, "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"),
            (4, "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"),
            (7, "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c"),
            (8, "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"),
        ])
    func roots(count: Int, root: String) throws {
        var tree = MerkleTree(sha256: hash)
        for leaf in Self.leaves.prefix(count) { tree.append(try #require(Hexadecimal.bytes(of: leaf))) }
        #expect(Hexadecimal.text(of: tree.root) == root)
    }

    @Test("a leaf is the consent, its count and its last mac; a consent without events is none")
    func leaves() throws {
        let id = ConsentID(UUIDv7(milliseconds: 1_767_323_045_678, random: (1, 2)))
        var tally = CheckpointTally(sha256: hash)
        tally.add(ChainHead(id: id, count: 0, mac: []))
        #expect(tally.root == hash([]))
        tally.add(ChainHead(id: id, count: 258, mac: [7, 8]))
        #expect(tally.consents == 1 && tally.events == 258)
        #expect(tally.root == hash([0] + id.uuid.bytes + [0, 0, 0, 0, 0, 0, 1, 2, 7, 8]))
    }

    @Test("what is signed is one text without blanks, and the name is made of it")
    func form() {
        let checkpoint = Checkpoint(
            number: 9, at: Instant(milliseconds: 1_767_323_045_000), consents: 2, events: 5,
            root: [UInt8](repeating: 7, count: 32), previous: "8-000102030405060708090a0b0c0d0e0f", keyID: "e1")
        #expect(
            String(decoding: checkpoint.canonical, as: UTF8.self)
                == #"{"at":1767323045000,"consents":2,"events":5,"key":"e1","number":9,"#
                + #""previous":"8-000102030405060708090a0b0c0d0e0f","#
                + #""root":"0707070707070707070707070707070707070707070707070707070707070707","type":"checkpoint"}"#)
        let name = checkpoint.name(hash)
        #expect(name.description == "9-a2e33e811495e20b718b81fa8c0db795")
        #expect(CheckpointName(name.description) == name)
    }

    @Test(
        "anything but a number and 32 digits is no name",
        arguments: [
            "", "9", "9-", "0-a2e33e811495e20b718b81fa8c0db795", "09-a2e33e811495e20b718b81fa8c0db795",
            "+9-a2e33e811495e20b718b81fa8c0db795", "9-A2e33e811495e20b718b81fa8c0db795",
            "9-a2e33e811495e20b718b81fa8c0db7", "9-a2e33e811495e20b718b81fa8c0db795-",
            "x-a2e33e811495e20b718b81fa8c0db795",
        ])
    func names(text: String) { #expect(CheckpointName(text) == nil) }
}
