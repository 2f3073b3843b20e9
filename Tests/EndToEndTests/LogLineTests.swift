// SPDX-License-Identifier: Apache-2.0
import NativeCurl
import NativeHTTPServer
import Observability
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("Log lines of a request")
struct LogLineTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

    @Test("a request and each of its provider calls are one line each, joined by request and trace")
    func joined() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let headers = [
                (name: "X-Request-Id", value: "order-7"),
                (name: "traceparent", value: "00-\(LogLineTests.trace)-00f067aa0ba902b7-01"),
            ]
            let body = Array(#"{"provider":"paypal","subject":"u","code":"c"}"#.utf8)
            let answer = try await gateway.call(.post(body), "/v1/consents", headers: headers)
            #expect(answer.status == 201)
            let end = " request_id=order-7 trace_id=\(LogLineTests.trace)"
            let lines = gateway.log.lines.filter { $0.hasSuffix(end) }
            for call in ["call=exchange outcome=granted", "call=userinfo outcome=fetched"] {
                let line = lines.filter { $0.contains(" provider call answered provider=paypal \(call) ") }
                #expect(line.count == 1)
                #expect(line.first?.contains(" provider_status=200 duration_ms=") == true)
            }
            let answered = lines.filter {
                $0.contains(" request answered method=POST route=/v1/consents status=201 caller=test-")
            }
            #expect(answered.count == 1)
            #expect(answered.first?.contains(" peer=127.0.0.1 duration_ms=") == true)
        }
    }

    @Test("a call that is refused has its caller in its line, and its route where there is one")
    func refused() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let record = "/v1/consents/\(CallerTests.id)"
            _ = try await gateway.call(.post([]), record)
            _ = try await gateway.call(.get, "/v1/nothing")
            _ = try await gateway.call(.get, record, headers: [("Accept", "text/html")])
            let caller = "caller=test-\(gateway.serving.api.port) "
            for line in [
                "method=POST status=405 code=method_not_allowed", "method=GET status=404 code=not_found",
                #"method=GET route="/v1/consents/{id}" status=406 code=not_acceptable"#,
            ] { #expect(gateway.log.text.contains("request answered \(line) \(caller)"), "\(line)") }
        }
    }

    @Test("a malformed trace is left out, and the request's id stays")
    func malformed() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let headers = [
                (name: "X-Request-Id", value: "order-8"),
                (name: "traceparent", value: "ff-\(LogLineTests.trace)-00f067aa0ba902b7-01"),
            ]
            _ = try await gateway.call(.get, "/v1/consents", headers: headers)
            #expect(gateway.log.lines.contains { $0.hasSuffix(" request_id=order-8") })
            #expect(!gateway.log.text.contains("trace_id"))
        }
    }
}
