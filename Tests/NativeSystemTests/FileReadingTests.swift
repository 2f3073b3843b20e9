// SPDX-License-Identifier: Apache-2.0
import Glibc
import NativeSystem
import Testing

@Suite("Small files")
struct FileReadingTests {
    /// A folder of its own that goes when the test does.
    private final class Folder {
        let path: String
        init() {
            var template = Array("/tmp/consent-files-XXXXXX".utf8CString)
            path = template.withUnsafeMutableBufferPointer { String(cString: mkdtemp($0.baseAddress!)) }
        }
        func file(_ name: String, _ bytes: [UInt8], mode: mode_t) -> String {
            let file = "\(path)/\(name)"
            let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC, mode)
            fchmod(descriptor, mode)
            _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            close(descriptor)
            return file
        }
        deinit {
            for name in ["a", "pipe"] { unlink("\(path)/\(name)") }
            rmdir(path)
        }
    }

    @Test("a file is read whole, with its permissions")
    func wholeFile() throws {
        let folder = Folder()
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        let contents = try readFile(at: folder.file("a", bytes, mode: 0o640), limit: 100_000)
        #expect(contents.bytes == bytes)
        #expect(contents.permissions == 0o640)
        #expect(contents.owner == getuid())
    }

    @Test("one byte over the limit is refused")
    func limit() {
        let folder = Folder()
        let file = folder.file("a", [1, 2, 3], mode: 0o600)
        #expect(throws: FileReadingFailure.tooLarge(limit: 2)) { try readFile(at: file, limit: 2) }
        #expect(throws: Never.self) { try readFile(at: file, limit: 3) }
    }

    @Test("what is no regular file is refused without waiting for it")
    func notRegular() {
        let folder = Folder()
        let pipe = "\(folder.path)/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(throws: FileReadingFailure.notRegular) { try readFile(at: pipe, limit: 10) }
        #expect(throws: FileReadingFailure.notRegular) { try readFile(at: folder.path, limit: 10) }
        #expect(throws: FileReadingFailure.notRegular) { try readFile(at: "/dev/zero", limit: 10) }
    }

    @Test("a missing file is said to be missing")
    func missing() {
        #expect(throws: FileReadingFailure.notFound) { try readFile(at: "/nowhere/at/all", limit: 10) }
        #expect(FileReadingFailure.notFound.sentence == "no such file")
        #expect(systemErrorSentence(EACCES) == "Permission denied")
    }
}
