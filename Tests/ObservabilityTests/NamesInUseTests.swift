// SPDX-License-Identifier: Apache-2.0
import NativeSystem
import Testing

@testable import Observability

/// Names of metrics and keys of log lines are cases of enums, nowhere written by hand.
@Suite("Names of metrics and keys of log lines") struct NamesInUseTests {
    /// The program's sources, but for the room where the enums are.
    private let sources: String

    init() throws {
        let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Sources"
        sources = try NamesInUseTests.files(under: root).filter { !$0.contains("/Observability/") }
            .map { String(decoding: try readFile(at: $0, limit: 1 << 20).bytes, as: UTF8.self) }.joined()
    }

    private static func files(under folder: String) throws -> [String] {
        try names(inDirectory: folder).flatMap { name -> [String] in
            let path = "\(folder)/\(name)"
            if name.hasSuffix(".swift") { return [path] }
            return name.contains(".") ? [] : try files(under: path)
        }
    }

    private func has(_ text: String) -> Bool { sources.contains(text) }

    @Test("each metric is counted or read somewhere, and no name is written by hand")
    func metrics() {
        for metric in Metric.allCases where !metric.rawValue.hasPrefix("process_") && metric != .buildInfo {
            #expect(has(".\(metric),"), "\(metric)")
        }
        #expect(!has(#""consent_gateway_"#) && !has(#""process_"#))
    }

    @Test("each log line's key is a case that stands in the source, none is made of a text")
    func keys() {
        #expect(has("Fact(."))
        #expect(!has("FactKey(") && !has("Fact(FactKey"))
    }
}
