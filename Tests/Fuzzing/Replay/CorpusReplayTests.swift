// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite("The fuzzers' corpus")
struct CorpusReplayTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Corpus")

    private static func inputs(of reader: FuzzedReader) throws -> [(name: String, bytes: [UInt8])] {
        let files = try FileManager.default.contentsOfDirectory(
            at: folder.appending(path: reader.rawValue), includingPropertiesForKeys: nil)
        return try files.map { ($0.lastPathComponent, Array(try Data(contentsOf: $0))) }
    }

    @Test("every reader keeps its promises on every input that was kept", arguments: FuzzedReader.allCases)
    func replay(reader: FuzzedReader) throws {
        let inputs = try Self.inputs(of: reader)
        #expect(inputs.count >= 5)
        for (name, bytes) in inputs {
            #expect(reader.breaches(bytes) == [], "\(reader.rawValue)/\(name)")
        }
    }
}
