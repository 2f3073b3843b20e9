// SPDX-License-Identifier: Apache-2.0
import NativeSystem
import Testing

@testable import Observability

/// The tables of metrics and labels, between comments that name them, are those of the code. Where this fails,
/// put what it prints as expected into `.github/METRICS.md`.
@Suite("The documentation of the metrics") struct MetricTablesTests {
    private func documented(_ name: String) throws -> String {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let page = try readFile(at: "/\(root)/.github/METRICS.md", limit: 1 << 20)
        let text = String(decoding: page.bytes, as: UTF8.self)
        let parts = text.split(separator: "<!-- \(name) -->\n", omittingEmptySubsequences: false)
        try #require(parts.count == 2, "the mark <!-- \(name) --> stands once")
        let end = try #require(parts[1].firstRange(of: "<!-- end of \(name) -->"))
        return String(parts[1][..<end.lowerBound])
    }

    @Test("the table of metrics is the code's")
    func metrics() throws {
        let text = try documented("metrics")
        #expect(text == MetricTables.metrics)
    }

    @Test("the table of labels and of what bounds them is the code's")
    func labels() throws {
        let text = try documented("labels")
        #expect(text == MetricTables.labels)
    }

    @Test("a label has its fixed words, or those that it is given, and other")
    func words() {
        let words = MetricWords(routes: ["/r"], codes: ["c"], providers: ["p"], version: "v")
        for label in MetricLabel.allCases {
            let values = words.values(of: label)
            #expect(values.last == MetricWords.other)
            #expect(values.count > 1, "\(label) is other for everything")
        }
    }
}
