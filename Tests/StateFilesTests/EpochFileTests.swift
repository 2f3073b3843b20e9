// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeSystem
import StateFiles
import Testing

@Suite("The note of the store's epoch")
struct EpochFileTests {
    @Test("what was written is read again, by its owner alone")
    func again() throws {
        let folder = try makeTemporaryFolder(prefix: "epoch-", in: "/tmp")
        defer { removeFolder(at: folder) }
        let file = EpochFile(stateDirectory: folder)
        #expect(try file.read() == nil)
        for number: Int64 in [1, .max] {
            let mark = EpochMark(
                epoch: StoreEpoch(incarnation: UUIDv7(milliseconds: 5, random: (7, 9)), number: number),
                at: Instant(milliseconds: 1_767_323_045_000))
            try file.write(mark)
            #expect(try file.read() == mark)
        }
        #expect(try readFile(at: folder + "/epoch", limit: 1000).permissions == 0o600)
    }

    @Test(
        "a file of something else is told of",
        arguments: ["", "epoch1", "epoch1 0 1 2\n", "epoch2 \(String(repeating: "0", count: 32)) 1 2\n", "\u{0}\n"])
    func damaged(_ text: String) throws {
        let folder = try makeTemporaryFolder(prefix: "epoch-", in: "/tmp")
        defer { removeFolder(at: folder) }
        try createFile(Array(text.utf8), at: folder + "/epoch", permissions: 0o600)
        #expect(throws: StateFailure.damaged(folder + "/epoch")) {
            try EpochFile(stateDirectory: folder).read()
        }
    }
}
