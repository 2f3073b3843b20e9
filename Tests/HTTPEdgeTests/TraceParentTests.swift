// SPDX-License-Identifier: Apache-2.0
import NativeHTTPServer
import Testing

@testable import HTTPEdge

@Suite("W3C trace context, section 3.2")
struct TraceParentTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let parent = "00f067aa0ba902b7"

    private func traceID(_ fields: String...) -> String? {
        TraceParent(HTTPHeaders(fields.map { ("traceparent", $0) }))?.traceID
    }

    @Test(
        "a good field names its trace, also one of a later version",
        arguments: [
            "00-\(trace)-\(parent)-01", "00-\(trace)-\(parent)-00", "00-\(trace)-\(parent)-ff",
            "01-\(trace)-\(parent)-01",
            "cc-\(trace)-\(parent)-01-what-the-future-will-be-like", "fe-\(trace)-\(parent)-01-",
        ])
    func good(field: String) {
        #expect(traceID(field) == TraceParentTests.trace)
    }

    @Test(
        "anything else names none",
        arguments: [
            "", "00", "ff-\(trace)-\(parent)-01", "00-\(String(repeating: "0", count: 32))-\(parent)-01",
            "00-\(trace)-\(String(repeating: "0", count: 16))-01", "00-\(trace)-\(parent)-01-more",
            "00-\(trace)-\(parent)-01-", "cc-\(trace)-\(parent)-01.more", "cc-\(trace)-\(parent)-012",
            "00-\(trace.uppercased())-\(parent)-01", "00-\(trace)-\(parent.uppercased())-01",
            "0X-\(trace)-\(parent)-01",
            "00-\(trace)-\(parent)-0", "00-\(trace)-\(parent)", "00-\(trace)-\(parent)-zz", "0-\(trace)-\(parent)-001",
            "00_\(trace)_\(parent)_01", "00-\(trace.dropLast())-\(parent)0-01", "00-\(trace.dropLast())é-\(parent)-1",
        ])
    func malformed(field: String) {
        #expect(traceID(field) == nil)
    }

    @Test("none, and two of them, name none")
    func count() {
        let field = "00-\(TraceParentTests.trace)-\(TraceParentTests.parent)-01"
        #expect(traceID() == nil)
        #expect(traceID(field, field) == nil)
    }
}
