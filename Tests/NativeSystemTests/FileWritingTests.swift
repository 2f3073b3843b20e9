// SPDX-License-Identifier: Apache-2.0
import Foundation
import NativeSystem
import Testing

@Suite struct FileWritingTests {
    private let folder: String

    init() throws {
        folder = NSTemporaryDirectory() + "files-" + UUID().uuidString
        try makeFolder(at: folder, permissions: 0o700)
    }

    @Test("a file is replaced whole, with exactly its mode, and nothing is left beside it")
    func replacing() throws {
        let path = folder + "/state"
        for (text, mode) in [("one", 0o600), ("two", 0o666)] as [(String, UInt32)] {
            try replaceFile(Array(text.utf8), at: path, permissions: mode)
            let contents = try readFile(at: path, limit: 10)
            #expect(contents.bytes == Array(text.utf8) && contents.permissions == mode)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["state"])
    }

    @Test("what is no file is not replaced by one: a pipe, a folder, a device behind a link")
    func noFile() throws {
        #expect(mkfifo(folder + "/pipe", 0o600) == 0)
        try makeFolder(at: folder + "/folder", permissions: 0o700)
        #expect(symlink("/dev/null", folder + "/device") == 0)
        for name in ["pipe", "folder", "device"] {
            #expect(throws: FileWritingFailure.exists) {
                try replaceFile([1], at: "\(folder)/\(name)", permissions: 0o600)
            }
        }
        #expect(Set(try FileManager.default.contentsOfDirectory(atPath: folder)) == ["pipe", "folder", "device"])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder + "/device") == "/dev/null")
    }

    @Test("of many that make one file at the same time one succeeds")
    func creating() async throws {
        let path = folder + "/once"
        let successes = await withTaskGroup(of: Bool.self, returning: Int.self) { group in
            for number in 0..<8 {
                group.addTask {
                    (try? createFile(Array("\(number)".utf8), at: path, permissions: 0o600)) != nil
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(successes == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["once"])
    }

    @Test("what cannot be written says why")
    func failures() throws {
        #expect(throws: FileWritingFailure.folderNotFound) {
            try createFile([1], at: folder + "/none/file", permissions: 0o600)
        }
        try createFile([1], at: folder + "/file", permissions: 0o600)
        #expect(throws: FileWritingFailure.folderNotFound) {
            try replaceFile([1], at: folder + "/file/file", permissions: 0o600)
        }
        #expect(throws: FileWritingFailure.exists) { try makeFolder(at: folder + "/file", permissions: 0o700) }
        try makeFolder(at: folder + "/a/b/c", permissions: 0o700)
        try makeFolder(at: folder + "/a/b/c", permissions: 0o700)
    }

    @Test(
        "the folder of a path is all before its last part",
        arguments: [
            ("var/keys.json", "var"), ("keys.json", "."), ("/keys.json", "/"), ("/a/b/c", "/a/b"),
        ])
    func folders(path: String, expected: String) {
        #expect(NativeSystem.folder(of: path) == expected)
    }
}
