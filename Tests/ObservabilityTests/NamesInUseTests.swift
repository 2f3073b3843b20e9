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

    @Test("no key of a log line could hold a token, a code, a secret, a subject or an attribute")
    func harmlessKeys() {
        // A new one is looked at here: who would fill it, and with what.
        #expect(
            Set(FactKey.allCases.map(\.rawValue)) == [
                "request_id", "trace_id", "caller", "instance", "consent_id", "provider", "environment", "attempt",
                "generation", "call", "route", "method", "status", "code", "peer", "outcome", "reason", "duration_ms",
                "provider_status", "provider_error", "provider_error_description", "provider_correlation_id",
                "oddities", "problem", "retry_after", "setting", "path", "address", "port", "version", "schema",
                "component", "signal", "count", "level", "key_id", "checkpoint", "at_ms", "consents", "events",
                "previous", "root", "signature",
            ])
    }

    @Test("each log line's key is a case that stands in the source, none is made of a text")
    func keys() {
        #expect(has("Fact(."))
        #expect(!has("FactKey(") && !has("Fact(FactKey"))
    }
}
