// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Observability

@Suite struct MetricsTests {
    private let metrics = Metrics(
        MetricWords(
            routes: ["/v1/consents", "/v1/consents/{id}"], codes: ["invalid_request"], providers: ["paypal"],
            version: "0.1.0"))

    private func page(_ readings: [MetricReading] = []) async -> String {
        await MetricsPage(metrics, readings: readings).text()
    }

    @Test("names are those of Prometheus: small letters, a unit at the end, and _total for counters only")
    func names() {
        for metric in Metric.allCases {
            let name = metric.rawValue
            #expect(name.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "_") })
            #expect(name.hasSuffix("_total") == (metric.kind == .counter), "\(name)")
            #expect(name.hasPrefix("consent_gateway_") || name.hasPrefix("process_"))
            #expect(!metric.help.isEmpty && !metric.help.hasSuffix("."))
            #expect(Set(metric.labels.map(\.name)).count == metric.labels.count)
        }
    }

    @Test("counters and histograms look as Prometheus reads them")
    func rendering() async {
        metrics.count(.httpRequests, ["/v1/consents", "POST", "201"])
        metrics.count(.httpRequests, ["/v1/consents", "POST", "201"])
        metrics.add(3, to: .grantsAdopted, [])
        metrics.observe(.milliseconds(3), in: .httpRequestDuration, ["/v1/consents"])
        metrics.observe(.seconds(90), in: .httpRequestDuration, ["/v1/consents"])
        let text = await page()
        #expect(
            text.hasPrefix(
                """
                # HELP consent_gateway_http_requests_total Answers of the API listener by route, method and status
                # TYPE consent_gateway_http_requests_total counter
                consent_gateway_http_requests_total{route="/v1/consents",method="POST",status="201"} 2
                # HELP consent_gateway_http_request_duration_seconds Seconds from a request's complete head to its \
                answer, by route
                # TYPE consent_gateway_http_request_duration_seconds histogram
                consent_gateway_http_request_duration_seconds_bucket{route="/v1/consents",le="0.001"} 0
                consent_gateway_http_request_duration_seconds_bucket{route="/v1/consents",le="0.0025"} 0
                consent_gateway_http_request_duration_seconds_bucket{route="/v1/consents",le="0.005"} 1

                """))
        #expect(
            text.contains(
                """
                consent_gateway_http_request_duration_seconds_bucket{route="/v1/consents",le="60"} 1
                consent_gateway_http_request_duration_seconds_bucket{route="/v1/consents",le="+Inf"} 2
                consent_gateway_http_request_duration_seconds_sum{route="/v1/consents"} 90.003
                consent_gateway_http_request_duration_seconds_count{route="/v1/consents"} 2

                """))
        #expect(text.contains("\nconsent_gateway_grants_adopted_total 3\n"))
        #expect(!text.contains("consent_gateway_provider_calls_total"))
    }

    @Test("what has few series stands there with zeros from the start, what has many and what others keep does not")
    func zeros() async {
        let text = await page()
        for line in [
            "consent_gateway_api_key_failures_total 0", "consent_gateway_grants_adopted_total 0",
            "consent_gateway_journal_entries_total 0", "consent_gateway_store_batch_writes_count 0",
            #"consent_gateway_store_writes_total{outcome="failed"} 0"#,
            #"consent_gateway_calls_named_unknown_total{kind="refresh"} 0"#,
            #"consent_gateway_http_problems_total{code="invalid_request"} 0"#,
        ] { #expect(text.contains("\n\(line)\n"), "\(line)") }
        for word in ["\"other\"", "http_requests_total", "provider_calls", "process_cpu", "log_lines_lost", "flights"] {
            #expect(!text.contains(word), "\(word)")
        }
    }

    @Test("what cannot be told is left out, what can is read anew each time")
    func readings() async {
        let text = await page([
            MetricReading(.storeReady, []) { 1 }, MetricReading(.flights, ["exchange"]) { nil },
            MetricReading(.httpOpenRequests, ["api"]) { 0.5 }, .buildInfo(version: "0.1.0"),
        ])
        #expect(text.contains("# TYPE consent_gateway_store_ready gauge\nconsent_gateway_store_ready 1\n"))
        #expect(text.contains(#"consent_gateway_http_open_requests{listener="api"} 0.5"#))
        #expect(text.contains(#"consent_gateway_build_info{version="0.1.0"} 1"#))
        #expect(!text.contains("consent_gateway_flights"))
    }

    @Test("the process's own numbers are there")
    func process() async throws {
        let text = await page(MetricReading.ofProcess)
        for name in ["process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds"] {
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(name + " ") })
            #expect(try #require(Double(line.dropFirst(name.count + 1))) > 0)
        }
    }

    @Test("a value that was not declared is told as other, so nobody can make series, or put a secret into one")
    func boundedLabels() async {
        for number in 0..<1000 {
            metrics.count(.httpRequests, ["/v1/consents/cns_\(number)", "SECRET\(number)", "\(number)"])
            metrics.count(.httpProblems, ["user-\(number)@shop.test"])
        }
        let text = await page([MetricReading(.flights, ["cgk_secret"]) { 1 }])
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("consent_gateway_http_requests_total{") }
        #expect(lines.count <= 23 && lines.allSatisfy { $0.contains(#"{route="other",method="other","#) })
        #expect(text.contains(#"consent_gateway_http_problems_total{code="other"} 1000"#))
        #expect(text.contains(#"consent_gateway_flights{kind="other"} 1"#))
        for word in ["cns_", "SECRET", "@shop", "cgk_"] { #expect(!text.contains(word)) }
    }

    @Test("no label could hold a subject, a caller, a token, an address or a consent")
    func labelNames() {
        let names = Set(MetricLabel.allCases.map(\.name))
        #expect(
            names == [
                "route", "method", "status", "code", "listener", "provider", "call", "outcome", "kind", "version",
                "reason", "document",
            ])
    }

    @Test("label values and help texts are escaped")
    func escaping() {
        #expect(MetricsPage.escaped("a\\b\"c\nd") == #"a\\b\"c\nd"#)
        #expect(MetricsPage.escapedHelp("a\\b\"c\nd") == #"a\\b"c\nd"#)
    }

    @Test("a counter does not fall, and what is no histogram takes no durations")
    func misuse() async {
        let untouched = await page()
        metrics.add(-1, to: .apiKeyFailures, [])
        metrics.count(.storeReady, [])
        metrics.observe(.seconds(1), in: .apiKeyFailures, [])
        metrics.count(.httpRequestDuration, ["/v1/consents"])
        #expect(await page() == untouched)
    }

    @Test("counts of many threads add up")
    func threads() async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { [metrics] in
                    for _ in 0..<1000 { metrics.count(.apiKeyFailures, []) }
                }
            }
        }
        #expect(await page().contains("consent_gateway_api_key_failures_total 8000\n"))
    }
}
