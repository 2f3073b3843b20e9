// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeSystem
import StateFiles
import Testing

@Suite("The list of withdrawals")
struct WithdrawnFileTests {
    private let now = Instant(milliseconds: 1_767_323_045_000)

    private func digest(_ number: Int) -> BlindIndex {
        BlindIndex((0..<32).map { UInt8(truncatingIfNeeded: number >> (8 * ($0 % 4))) })
    }

    @Test("what several append at the same time stands in it, also after a line that a crash cut off")
    func appended() async throws {
        let folder = try makeTemporaryFolder(prefix: "withdrawn-", in: "/tmp")
        defer { removeFolder(at: folder) }
        let files = [WithdrawnFile(stateDirectory: folder), WithdrawnFile(stateDirectory: folder)]
        #expect(try await files[0].contents() == [])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask { try await files[number % 2].append(digest(number), at: now) }
            }
            try await group.waitForAll()
        }
        try appendShared(Array("\n00000007000000".utf8), toFileAt: folder + "/withdrawn")
        try await files[0].append(digest(40), at: now)
        #expect(try await files[1].contents() == Set((0...40).map(digest)))
        #expect(try readFile(at: folder + "/withdrawn", limit: 1 << 16).permissions == 0o600)
    }

    @Test("a file that has grown loses what is older than evidence is kept, and nothing else")
    func tidied() async throws {
        let folder = try makeTemporaryFolder(prefix: "withdrawn-", in: "/tmp")
        defer { removeFolder(at: folder) }
        let file = WithdrawnFile(stateDirectory: folder)
        let today = now.milliseconds / 86_400_000
        var lines = ""
        for number in 0..<16_000 {
            let day = today - (number.isMultiple(of: 2) ? WithdrawnFile.keptFor + 1 : WithdrawnFile.keptFor)
            lines += "\n\(Hexadecimal.text(of: digest(number).bytes)) \(day)\n"
        }
        try createFile(Array(lines.utf8), at: folder + "/withdrawn", permissions: 0o600)
        try file.tidy(at: now)
        #expect(try await file.contents() == Set(stride(from: 1, to: 16_000, by: 2).map(digest)))
        let size = try readFile(at: folder + "/withdrawn", limit: 1 << 22).bytes.count
        try file.tidy(at: now)
        #expect(try readFile(at: folder + "/withdrawn", limit: 1 << 22).bytes.count == size)
    }

    @Test("a folder that takes no file is told of")
    func noFolder() async throws {
        let file = WithdrawnFile(stateDirectory: "/tmp/no-such-folder-of-a-test")
        await #expect(throws: StateFailure.self) { try await file.append(digest(1), at: now) }
    }
}
