// SPDX-License-Identifier: Apache-2.0
import Foundation
import NativeSystem
import Testing

@Suite struct PreallocatedFileTests {
    private let folder: String

    init() throws {
        folder = NSTemporaryDirectory() + "preallocated-" + UUID().uuidString
        try makeFolder(at: folder, permissions: 0o700)
    }

    @Test("a file is made and locked though somebody removes what nobody holds")
    func making() throws {
        let path = folder + "/file"
        let isOver = Locked(false)
        let remover = try NamedThread(name: "remover") {
            while !isOver.withLock({ $0 }) {
                if let found = try? PreallocatedFile(existingAt: path) {
                    _ = try? found.contents()
                    try? removeFile(at: path)
                }
            }
        }
        let outcome = Result { try makeMany(at: path) }
        isOver.withLock { $0 = true }
        remover.join()
        try outcome.get()
    }

    private func makeMany(at path: String) throws {
        for _ in 0..<200 {
            let file = try PreallocatedFile(at: path, size: 4096)
            #expect(file.size == 4096)
            #expect(throws: SystemCallError("flock", code: EWOULDBLOCK)) { _ = try PreallocatedFile(existingAt: path) }
        }
    }
}
