// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeHTTPServer
import NativeSystem
import Observability
import Testing

@testable import HTTPEdge

@Suite("The admin listener") struct AdminAPITests {
    private let metrics = Metrics(
        MetricWords(routes: Route.patterns, codes: Problem.codes, providers: ["acme"], version: "1"))

    private func answer(_ path: String, method: String = "GET", host: String = "localhost:9090") async -> HTTPResponse {
        let api = AdminAPI(
            hosts: ["localhost", "127.0.0.1", "::1"], isReady: { true }, isDraining: { false }, isRefreshing: { true },
            troubles: { [] }, metrics: MetricsPage(metrics, readings: []), time: StillTime(), entropy: FixedEntropy())
        let head = HTTPRequestHead(
            method: method, rawPath: Array(path.utf8), headers: HTTPHeaders([("Host", host)]),
            peer: PeerAddress(text: "127.0.0.1", bytes: [127, 0, 0, 1], port: 1), receivedAt: .now())
        return await api.respond(to: HTTPRequest(head: head))
    }

    @Test("metrics come as Prometheus reads them")
    func metricsPage() async {
        metrics.count(.providerCalls, ["acme", "exchange", "granted"])
        let answer = await answer("/metrics")
        #expect(answer.status == 200)
        #expect(answer.headers.first { $0.name == "Content-Type" }?.value == "text/plain; version=0.0.4; charset=utf-8")
        #expect(
            String(decoding: answer.body, as: UTF8.self).contains(
                """
                # HELP consent_gateway_provider_calls_total Calls to providers by what they came to
                # TYPE consent_gateway_provider_calls_total counter
                consent_gateway_provider_calls_total{provider="acme",call="exchange",outcome="granted"} 1

                """))
    }

    @Test(
        "a page of another name reaches nothing, whatever it asks for",
        arguments: ["/metrics", "/healthz", "/readyz"])
    func foreignHost(path: String) async {
        for host in [
            "evil.example:9090", "localhost.evil.example", "[localhost]", "[::1]evil.example", "[::1", "::1", "",
            "localhost:evil.example", "localhost@evil.example", "localhost.", "[::1]:9090@evil.example",
        ] { #expect(await answer(path, host: host).status == 400, "\(host)") }
        for host in ["[::1]:9090", "[::1]", "LOCALHOST", "127.0.0.1:9090", "localhost:"] {
            #expect(await answer(path, host: host).status == 200, "\(host)")
        }
    }

    @Test("metrics are read, not written")
    func otherMethods() async {
        #expect(await answer("/metrics", method: "POST").status == 405)
        #expect(await answer("/metrics", method: "HEAD").status == 200)
    }

    @Test(
        "a path that is not there is 404 whatever the method, and one that cannot be decoded is 400",
        arguments: [
            ("POST", "/v1/subjects", 404), ("DELETE", "/", 404), ("OPTIONS", "*", 400), ("GET", "/%00", 400),
            ("POST", "/metrics%0", 400), ("GET", "/%ff", 400), ("GET", "/metrics/", 404), ("GET", "/%6detrics", 200),
            ("PUT", "/%6detrics", 405), ("GET", "/healthz%2F", 404),
        ])
    func unknownPaths(method: String, path: String, status: Int) async {
        #expect(await answer(path, method: method).status == status)
    }

    @Test("every route's name is a label")
    func routeNames() {
        let id = ConsentID(UUIDv7(milliseconds: 1, random: (0, 0)))
        let routes: [Route] = [
            .createConsent, .listConsents, .consent(id), .withdraw(id), .profile(id), .refresh(id), .accessToken(id),
            .events(id), .receipt(id),
        ]
        #expect(Set(routes.map(\.pattern) + PublicPages.paths) == Set(Route.patterns))
    }
}

struct StillTime: Timekeeper {
    var now: Instant { Instant(milliseconds: 0) }
    var monotonic: Duration { .zero }
    var sinceBoot: Duration { monotonic }
    func sleep(until monotonic: Duration) async throws(CancellationError) {}
}

struct FixedEntropy: Entropy {
    func randomBits() -> (UInt64, UInt64) { (1, 2) }
}
