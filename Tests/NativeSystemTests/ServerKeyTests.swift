// SPDX-License-Identifier: Apache-2.0
import Glibc
import NativeSystem
import Testing

@Suite struct ServerKeyTests {
    @Test(
        "a server's key may be read by its group, and by nobody else",
        arguments: [
            (0o400, true), (0o600, true), (0o640, true), (0o440, true), (0o644, false), (0o660, false), (0o604, false),
            (0o602, false), (0o700, false),
        ] as [(UInt32, Bool)])
    func modes(mode: UInt32, isTaken: Bool) throws {
        let folder = try makeTemporaryFolder(prefix: "server-key-", in: "/tmp")
        defer { removeFolder(at: folder) }
        try createFile([1, 2], at: folder + "/key", permissions: 0o600)
        #expect(chmod(folder + "/key", mode) == 0)
        // As tools that renew certificates leave it: a link to the newest.
        #expect(symlink("key", folder + "/newest") == 0)
        for path in [folder + "/key", folder + "/newest"] {
            if isTaken {
                #expect(try readServerKey(at: path, limit: 10) == [1, 2])
            } else {
                #expect(throws: PrivateFileFailure.exposedKey(permissions: mode)) {
                    try readServerKey(at: path, limit: 10)
                }
            }
        }
    }

    @Test("the process's own use of the machine is there")
    func usage() throws {
        let usage = try #require(processUsage())
        #expect(usage.cpuSeconds > 0 && usage.residentBytes > 1 << 20)
        #expect(try #require(openFileCount()) >= 3)
    }
}
