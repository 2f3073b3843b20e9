// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeHTTPServer
import NativeJSON
import NativeSystem
import Observability
import Testing

@testable import HTTPEdge

/// The part `x-admin` of the API's description, held against the listener itself.
@Suite("The description of the admin listener") struct AdminDescriptionTests {
    private let document: JSONValue

    init() throws { document = try JSONValue.parse(try OpenAPIDocument.load().bytes, as: .callers) }

    private func operation(_ route: AdminRoute) throws -> JSONValue {
        try #require(document["x-admin"]?[route.rawValue]?["get"])
    }

    private func answer(
        _ method: String, _ path: String, host: String = "localhost", isReady: Bool = true, isDraining: Bool = false,
        isRefreshing: Bool = true
    ) async -> HTTPResponse {
        let metrics = Metrics(MetricWords(routes: [], codes: [], providers: [], version: "1"))
        let api = AdminAPI(
            hosts: ["localhost"], isReady: { isReady }, isDraining: { isDraining }, isRefreshing: { isRefreshing },
            troubles: { [] }, metrics: MetricsPage(metrics, readings: []), time: StillTime(), entropy: FixedEntropy())
        let head = HTTPRequestHead(
            method: method, rawPath: Array(path.utf8), headers: HTTPHeaders([("Host", host)]),
            peer: PeerAddress(text: "127.0.0.1", bytes: [127, 0, 0, 1], port: 1), receivedAt: .now())
        return await api.respond(to: HTTPRequest(head: head))
    }

    /// An answer must have a status and a media type that its operation is described with; a problem's code must be
    /// one that the description lists for the status.
    private func hold(_ answer: HTTPResponse, against route: AdminRoute) throws {
        let responses = try #require(try operation(route)["responses"])
        let response = try #require(responses["\(answer.status)"], "\(route) \(answer.status)")
        let isReference = response["$ref"] != nil
        let content = isReference ? document["components"]?["responses"]?["Problem\(answer.status)"] : response
        let type = try #require(answer.headers.first { $0.name == "Content-Type" }?.value.prefix { $0 != ";" })
        #expect(content?["content"]?[String(type)] != nil, "\(route) \(answer.status) \(type)")
        guard type == "application/problem+json" else { return }
        let code = try JSONValue.parse(answer.body, as: .callers)["code"]
        let problem = try #require(document["components"]?["responses"]?["Problem\(answer.status)"])
        let schema = problem["content"]?["application/problem+json"]?["schema"]?["allOf"]?[1]?["properties"]
        #expect(schema?["code"]?["enum"]?.array?.contains { $0.string == code?.string } == true, "\(route)")
    }

    @Test("each route and method is described, and nothing else")
    func routes() async throws {
        let described = try #require(document["x-admin"]).members.flatMap { path in
            path.value.members.map { "\($0.name.uppercased()) \(path.name)" }
        }
        #expect(Set(described) == Set(AdminRoute.allCases.map { "GET \($0.rawValue)" }))
        #expect(described.count == AdminRoute.allCases.count)
        for path in ["/", "/metrics/", "/healthz2", "/v1/consents"] {
            #expect(await answer("GET", path).status == 404)
        }
        for route in AdminRoute.allCases {
            for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"] {
                #expect(await answer(method, route.rawValue).status == 405)
            }
        }
    }

    @Test("each answer has a status, a media type and a code that it is described with")
    func answers() async throws {
        for route in AdminRoute.allCases {
            for isReady in [true, false] {
                for isDraining in [true, false] {
                    let answer = await answer("GET", route.rawValue, isReady: isReady, isDraining: isDraining)
                    #expect(answer.status == (route == .ready && (!isReady || isDraining) ? 503 : 200))
                    try hold(answer, against: route)
                }
            }
            try hold(await answer("DELETE", route.rawValue), against: route)
            try hold(await answer("GET", route.rawValue, host: "evil.example"), against: route)
            #expect(try operation(route)["security"]?.count == 0)
        }
    }

    @Test("each operation of both listeners lists what the server may refuse before it reaches a call")
    func refusals() throws {
        let refusals: [HTTPRefusal] = [
            .badRequest(.target), .bodyTooLarge, .headersTooLarge, .headTimeout, .bodyTimeout, .tooManyConnections,
            .stopping, .unsendableResponse,
        ]
        for section in ["paths", "x-admin"] {
            for path in try #require(document[section]).members {
                for operation in path.value.members where operation.name != "parameters" {
                    for refusal in refusals {
                        let status = Problem(refusal).status
                        let isDescribed = operation.value["responses"]?["\(status)"] != nil
                        #expect(isDescribed, "\(operation.name) \(path.name) \(status)")
                    }
                }
            }
        }
    }

    @Test("what the server cannot take now says so in a word of the contract's table, with a time to try again")
    func notNow() {
        for refusal in [HTTPRefusal.tooManyConnections, .stopping] {
            let problem = Problem(refusal)
            #expect(problem.status == 503 && problem.code == "provider_unavailable")
            #expect(problem.retryAfter.map { $0 > 0 } == true)
        }
        #expect(ProblemCode.rateLimited.statuses == [429])
    }

    @Test("what the pages say is what their schemas allow")
    func words() async throws {
        let schemas = try #require(document["components"]?["schemas"])
        let alive = try JSONValue.parse(await answer("GET", "/healthz").body, as: .callers)
        #expect(alive.members.map(\.name) == schemas["Alive"]?["required"]?.array?.compactMap(\.string))
        var words: Set<String> = []
        for (isReady, isDraining) in [(true, false), (false, false), (true, true)] {
            let answer = await answer("GET", "/readyz", isReady: isReady, isDraining: isDraining)
            let ready = try JSONValue.parse(answer.body, as: .callers)
            #expect(ready.members.map(\.name) == schemas["Readiness"]?["required"]?.array?.compactMap(\.string))
            words.insert(try #require(ready["status"]?.string))
        }
        let described = schemas["Readiness"]?["properties"]?["status"]?["enum"]?.array?.compactMap(\.string)
        #expect(words == Set(try #require(described)))
        for isRefreshing in [true, false] {
            let answer = await answer("GET", "/readyz", isRefreshing: isRefreshing)
            #expect(answer.status == 200)
            let word = try JSONValue.parse(answer.body, as: .callers)["refreshing"]?.string
            #expect(word == (isRefreshing ? "on" : "stopped"))
            let known = schemas["Readiness"]?["properties"]?["refreshing"]?["enum"]?.array?.compactMap(\.string)
            #expect(known?.contains(try #require(word)) == true)
        }
    }
}
