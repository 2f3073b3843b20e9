// SPDX-License-Identifier: Apache-2.0
import NativeSystem
import Testing

@Suite("The fuzzers' corpus")
struct CorpusReplayTests {
    private static let corpus = folder(of: folder(of: #filePath)) + "/Corpus"

    private static func inputs(of reader: FuzzedReader) throws -> [(name: String, bytes: [UInt8])] {
        let place = "\(corpus)/\(reader.rawValue)"
        return try names(inDirectory: place).sorted().map { name in
            (name, try readFile(at: "\(place)/\(name)", limit: 1 << 20).bytes)
        }
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
