// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import NativeCurl
import NativeHTTPServer
import NativeJSON
import TestSupport
import Testing

@testable import GatewayAssembly
@testable import HTTPEdge

@Suite("Who may call what")
struct CallerTests {
    static let id = "cns_019378f0c0de7000a1b2c3d4e5f60718"

    @Test("without a good key everything is 401, also what is not there, and nothing is sent to the provider")
    func unauthenticated() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            for path in ["/v1/consents/\(CallerTests.id)", "/v1/nothing", "/", "/v1/consents/%00"] {
                let answer = try await gateway.call(.get, path, key: "cgk_test_wrong")
                #expect(answer.status == 401)
                #expect(answer.code == "unauthenticated")
                #expect(answer.json["detail"]?.string?.contains("a new key is known within 5 seconds") == true)
                #expect(
                    answer.headers["www-authenticate"] == #"Bearer realm="consent-gateway", error="invalid_token""#)
            }
            let body = CurlMethod.post(Array(#"{"subject":"u","code":"c"}"#.utf8))
            #expect(try await gateway.call(body, "/v1/consents", key: "cgk_test_wrong").status == 401)
            #expect(script.provider.requests.isEmpty)
        }
    }

    @Test("a key that stands anywhere but in the field Authorization is none")
    func misplacedKeys() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            // The other two places of RFC 6750, section 2, and those that some servers know beside.
            let form = "access_token=\(gateway.key)"
            let requests = [
                "GET /v1/consents?\(form) HTTP/1.1\r\n", "GET /v1/consents?api_key=\(gateway.key) HTTP/1.1\r\n",
                "GET /v1/consents HTTP/1.1\r\nCookie: access_token=\(gateway.key)\r\n",
                "GET /v1/consents HTTP/1.1\r\nX-Api-Key: \(gateway.key)\r\n",
                "GET /v1/consents HTTP/1.1\r\nAuthorization: Basic \(gateway.key)\r\n",
                "POST /v1/consents HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
                    + "Content-Length: \(form.utf8.count)\r\n",
            ]
            for request in requests {
                let connection = try RawConnection(port: gateway.serving.api.port)
                let body = request.hasPrefix("POST") ? form : ""
                try connection.send(request + "Host: localhost\r\nConnection: close\r\n\r\n" + body)
                let answer = String(decoding: try await connection.readToEnd(), as: UTF8.self)
                Canary.keep(Array(answer.utf8), in: .answers)
                #expect(answer.hasPrefix("HTTP/1.1 401"), "\(request): \(answer)")
            }
            Canary.know(gateway.key, in: #fileID)
            #expect(script.provider.requests.isEmpty)
        }
    }

    /// The table of the contract, section 2: each call and the scope that a key needs for it.
    static let calls: [(method: String, path: String, body: String?, scope: CallerScope)] = [
        ("POST", "/v1/consents", #"{"provider":"paypal","subject":"u","response":{"code":"c"}}"#, .consentsWrite),
        ("GET", "/v1/consents", nil, .consentsRead),
        ("HEAD", "/v1/consents", nil, .consentsRead),
        ("GET", "/v1/consents/\(id)", nil, .consentsRead),
        ("HEAD", "/v1/consents/\(id)", nil, .consentsRead),
        ("DELETE", "/v1/consents/\(id)", nil, .consentsWrite),
        ("GET", "/v1/consents/\(id)/profile", nil, .profilesRead),
        ("POST", "/v1/consents/\(id)/refresh", nil, .consentsWrite),
        ("POST", "/v1/consents/\(id)/access-token", "{}", .tokensRead),
        ("GET", "/v1/consents/\(id)/events", nil, .consentsRead),
        ("GET", "/v1/consents/\(id)/receipt", nil, .consentsRead),
        ("HEAD", "/v1/consents/\(id)/receipt", nil, .consentsRead),
    ]

    @Test("each call needs its own scope and no other does, admin included", arguments: CallerScope.allCases)
    func scopes(_ scope: CallerScope) async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let made = APIKey.make(
                name: "narrow", scopes: [scope], lifetime: nil, now: gateway.serving.place.time.now)
            try await gateway.serving.gateway.store.createAPIKey(made.key)
            try await gateway.serving.callers.reload()
            for call in CallerTests.calls {
                let answer = try await gateway.raw(
                    call.method, call.path, body: call.body, key: made.text.reveal())
                if call.scope == scope {
                    #expect([200, 201, 404].contains(answer.status), "\(call.method) \(call.path): \(answer)")
                } else {
                    #expect(answer.status == 403, "\(call.method) \(call.path): \(answer)")
                    if call.method != "HEAD" { #expect(answer.code == "insufficient_scope") }
                }
                #expect(answer.json["profile"] == nil, "the profile is for keys with profiles:read")
            }
        }
    }

    @Test("the table has every call of the router, and nothing else")
    func tableIsWhole() {
        let described = CallerTests.calls.map { "\($0.method) \($0.path.replacing(CallerTests.id, with: "{id}"))" }
        var routed: Set<String> = []
        for pattern in Route.patterns where !PublicPages.paths.contains(pattern) {
            let segments = pattern.replacing("{id}", with: CallerTests.id).split(separator: "/").map(String.init)
            for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"] {
                if case .route = Route.match(method: method, segments: segments) {
                    routed.insert("\(method) \(pattern)")
                }
            }
        }
        #expect(Set(described.filter { !$0.hasPrefix("HEAD") }) == routed)
    }

    @Test("a key that has expired, and one that was revoked, is no key")
    func endedKeys() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let now = gateway.serving.place.time.now
            let expired = APIKey.make(name: "old", scopes: [.consentsRead], lifetime: .zero, now: now)
            var revoked = APIKey.make(name: "gone", scopes: [.consentsRead], lifetime: nil, now: now)
            revoked.key.revokedAt = now
            for made in [expired, revoked] {
                try await gateway.serving.gateway.store.createAPIKey(made.key)
                try await gateway.serving.callers.reload()
                let answer = try await gateway.call(
                    .get, "/v1/consents/\(CallerTests.id)", key: made.text.reveal())
                #expect(answer.status == 401)
            }
        }
    }

    @Test("what a caller asks wrongly has one kind of answer, with the request's id")
    func problems() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let record = "/v1/consents/\(CallerTests.id)"
            let cases: [(CurlMethod, String, [(name: String, value: String)], Int, String)] = [
                (.get, record, [], 404, "not_found"),
                (.get, "/v1/consents/cns_1", [], 404, "not_found"),
                (.get, record + "/refresh", [], 405, "method_not_allowed"),
                (.post([]), record, [], 405, "method_not_allowed"),
                (.get, record + "%", [], 400, "invalid_request"),
                (.get, record + "%00", [], 400, "invalid_request"),
                (.get, record, [("Accept", "text/html")], 406, "not_acceptable"),
                (.post(Array("{}".utf8)), "/v1/consents?provider=none", [], 400, "invalid_request"),
                (.post(Array(repeating: 0x20, count: 65 * 1024)), "/v1/consents", [], 413, "body_too_large"),
                (.get, record, [("X-Padding", String(repeating: "a", count: 17_000))], 431, "headers_too_large"),
            ]
            for (method, path, headers, status, code) in cases {
                let answer = try await gateway.call(
                    method, path, headers: headers + [("X-Request-Id", "my-request.1")])
                #expect(answer.status == status, "\(path)")
                #expect(answer.code == code, "\(path)")
                #expect(answer.headers["content-type"] == "application/problem+json")
                // Of a head that was too large nothing is taken.
                if status != 431 { #expect(answer.headers["x-request-id"] == "my-request.1") }
                #expect(answer.json["request_id"]?.string == answer.headers["x-request-id"])
                #expect(answer.json["type"]?.string == "urn:consent-gateway:problem:\(code)")
                #expect(answer.json["status"]?.integer == Int64(status))
            }
            #expect(script.provider.requests.isEmpty)
        }
    }

    @Test("a body that is not said to be JSON is refused before it is read")
    func mediaType() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let connection = try RawConnection(port: gateway.serving.api.port)
            try connection.send(
                "POST /v1/consents HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(gateway.key)\r\n"
                    + "Content-Type: text/plain\r\nContent-Length: 1000\r\n\r\n")
            let answer = String(decoding: try await connection.readToEnd(), as: UTF8.self)
            Canary.keep(Array(answer.utf8), in: .answers)
            #expect(answer.hasPrefix("HTTP/1.1 415"))
            #expect(answer.contains("unsupported_media_type"))
        }
    }

    @Test("an unknown provider, and a notice that is not configured, are named")
    func unknownNames() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        let notices = """
            notices:
              - { id: signup, version: "3", controller: Shop, purposes: [Account] }
            """
        try await TestGateway.with(provider: script.provider.url, sections: notices) { gateway in
            let other = try await gateway.post(code: "c", subject: "u", query: "&provider=acme")
            #expect(other.status == 404)
            #expect(other.code == "unknown_provider")
            let notice = try await gateway.post(code: "c", subject: "u", query: "&notice=signup@2")
            #expect(notice.code == "unknown_notice")
            let named = try await gateway.post(code: "c", subject: "u", query: "&notice=signup@3")
            #expect(named.json["notice"]?.string == "signup@3")
            let assumed = try await gateway.post(code: "d", subject: "v")
            #expect(assumed.json["notice"]?.string == "signup@3")
            let events = try await gateway.events(try #require(assumed.id))
            #expect(events.first?.draft.data["notice_assumed"] == .text("true"))
        }
    }

    @Test("the admin listener says whether it is alive and ready, to its own names only")
    func admin() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let port = gateway.serving.admin.port
            for (path, host, status) in [
                ("/healthz", "localhost:\(port)", "200"), ("/readyz", "127.0.0.1", "200"),
                ("/readyz", "rebound.example", "400"), ("/metricsx", "localhost", "404"),
            ] {
                let connection = try RawConnection(port: port)
                try connection.send("GET \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
                let answer = String(decoding: try await connection.readToEnd(), as: UTF8.self)
                #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(path) \(host): \(answer)")
            }
        }
    }
}
