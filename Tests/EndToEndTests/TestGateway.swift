// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import ConsentStores
import Consents
import NativeCurl
import HTTPEdge
import NativeEventLoop
import NativeHTTPServer
import NativeJSON
import NativeSQLite
import NativeSystem
import Observability
import TestSupport
import Testing
import TokenVaults

@testable import GatewayAssembly

/// A whole gateway in this process: a real configuration file, a real SQLite store, real HTTP on a free port.
final class TestGateway: Sendable {
    let folder: String
    let serving: Serving
    let key: String
    /// Every log line of the gateway, at the level `debug`.
    let log: MemorySink
    private let clientLoop: EventLoop
    private let client: CurlClient

    private init(
        folder: String, serving: Serving, key: String, log: MemorySink, loop: EventLoop, client: CurlClient
    ) {
        self.folder = folder
        self.serving = serving
        self.key = key
        self.log = log
        clientLoop = loop
        self.client = client
    }

    /// Runs `body` with a gateway whose provider is at that URL, and takes it down after.
    /// - Parameters:
    ///   - providerSettings: further lines of the provider's section, indented by four.
    ///   - sections: further top-level sections.
    ///   - limits: what stands in `server.limits`.
    ///   - proxies: what stands in `server.trusted_proxies`.
    ///   - refresh: what stands in `refresh`; by itself nothing is refreshed.
    static func with<Value>(
        provider url: String, providerSettings: String = "", sections: String = "",
        limits: String = "exchanges_per_subject: 100000/s", proxies: String = "", refresh: String = "enabled: false",
        _ body: (TestGateway) async throws -> Value
    ) async throws -> Value {
        let folder = try makeTemporaryFolder(prefix: "consent-gateway-test-", in: "/tmp")
        defer { removeFolder(at: folder) }
        try prepare(folder, configuration(url, providerSettings, sections, limits, proxies, refresh))
        return try await living(in: folder, body)
    }

    /// Runs `body` with a folder in which gateways can live one after the other.
    static func inFolder<Value>(
        provider url: String, providerSettings: String = "", sections: String = "", refresh: String = "enabled: false",
        _ body: (String) async throws -> Value
    ) async throws -> Value {
        let folder = try makeTemporaryFolder(prefix: "consent-gateway-test-", in: "/tmp")
        defer { removeFolder(at: folder) }
        let limits = "exchanges_per_subject: 100000/s"
        try prepare(folder, configuration(url, providerSettings, sections, limits, "", refresh))
        return try await body(folder)
    }

    /// One life in such a folder.
    static func living<Value>(in folder: String, _ body: (TestGateway) async throws -> Value) async throws -> Value {
        let gateway = try await start(in: folder)
        do {
            let value = try await body(gateway)
            await gateway.stop()
            return value
        } catch {
            await gateway.stop()
            throw error
        }
    }

    /// Another gateway on the same folder: the next life of the process, or a second instance.
    static func start(in folder: String) async throws -> TestGateway {
        let log = MemorySink()
        let place = try Workplace.open(
            configPath: folder + "/gateway.yaml", environment: [:], loops: 1, sink: log)
        place.log.setLevel(.debug)
        let serving = try await Serving.start(in: place)
        let made = APIKey.make(
            name: "test-\(serving.api.port)", scopes: Set(CallerScope.allCases), lifetime: nil, now: place.time.now)
        try await serving.gateway.store.createAPIKey(made.key)
        try await serving.callers.reload()
        Canary.know(made.text.reveal(), in: #fileID)
        let loop = try EventLoop.start(name: "test client")
        let client = try CurlClient(loop: loop, configuration: CurlConfiguration())
        return TestGateway(
            folder: folder, serving: serving, key: made.text.reveal(), log: log, loop: loop, client: client)
    }

    static func prepare(_ folder: String, _ configuration: String) throws {
        let ring = folder + "/vault-keys.json"
        _ = try KeyRing.create(at: ring, now: Instant(milliseconds: wallClockMilliseconds()))
        Canary.passed(try readFile(at: ring, limit: 1 << 16).bytes, in: #fileID)
        try createFile(Array(configuration.utf8), at: folder + "/gateway.yaml", permissions: 0o600)
    }

    func stop() async {
        await keepMetrics()
        await serving.stop()
        await client.stop()
        clientLoop.stop()
        serving.place.close()
        searchForCanaries()
        keepFiles(in: folder)
    }

    /// Tokens, codes and attributes of these tests say `canary`; none of them, and no secret, may be in a log line or in
    /// a file of the store.
    private func searchForCanaries() {
        var outputs = ["the log": log.text]
        for name in ["consents.db", "consents.db-wal"] {
            if let content = try? readFile(at: "\(folder)/\(name)", limit: 1 << 26) {
                outputs[name] = String(decoding: content.bytes, as: UTF8.self)
            }
        }
        for (place, text) in outputs {
            for secret in ["canary", "Canary", "simulated-secret", "acme-secret", key] {
                #expect(!text.contains(secret), "\(secret) stands in \(place)")
            }
        }
    }

    private static func configuration(
        _ url: String, _ providerSettings: String, _ sections: String, _ limits: String, _ proxies: String,
        _ refresh: String
    ) -> String {
        """
        server:
          listen: 127.0.0.1:0
          admin_listen: 127.0.0.1:0
          limits: { \(limits) }
          trusted_proxies: [\(proxies)]
        store:
          url: sqlite:consents.db
        vault:
          keys: { file: vault-keys.json }
        refresh: { \(refresh) }
        providers:
          paypal:
            preset: paypal
            environment: sandbox
            api_url: \(url)
            client_id: simulated-client
            client_secret: simulated-secret
            scopes: [openid, profile, email, address, phone]
        \(providerSettings)
        \(sections)
        """
    }
}

/// What a caller got.
struct TestAnswer: Sendable {
    let status: Int
    let headers: CurlHeaders
    let json: JSONValue

    var code: String? { json["code"]?.string }
    var id: String? { json["id"]?.string }
}

/// What a raw connection got.
struct TestAnswerText: Sendable {
    let status: Int
    let json: JSONValue

    var code: String? { json["code"]?.string }
}

extension TestGateway {
    struct NoAnswer: Error {}

    /// One call with the test's key.
    func call(_ method: CurlMethod, _ path: String, key: String? = nil, headers: [(name: String, value: String)] = [])
        async throws -> TestAnswer
    {
        let answer = try await exchange(method, path, key: key, headers: headers)
        return TestAnswer(
            status: answer.status, headers: answer.headers,
            json: answer.body.isEmpty ? .null : try JSONValue.parse(answer.body, as: .callers))
    }

    /// The same, its answer as it came.
    func exchange(
        _ method: CurlMethod, _ path: String, key: String? = nil, headers: [(name: String, value: String)] = []
    ) async throws -> (status: Int, headers: CurlHeaders, body: [UInt8]) {
        let fields: [(name: String, value: String)] = [
            ("Authorization", "Bearer \(key ?? self.key)"), ("Content-Type", "application/json"),
        ]
        let request = CurlRequest(
            method: method, url: serving.apiAddress + path, headers: fields + headers, connectTimeout: .seconds(5),
            timeout: .seconds(30), spends: false)
        Canary.know(key ?? self.key, in: #fileID)
        if case .post(let body) = method { Canary.passed(body, in: #fileID) }
        guard case .answered(let answer) = await client.perform(request) else { throw NoAnswer() }
        keep(answer.headers.all.map { "\($0.name): \($0.value)\n" }.joined(), answer.body)
        return (answer.status, answer.headers, answer.body)
    }

    /// The page that Prometheus would read now is one of the outputs that hold no secret.
    private func keepMetrics() async {
        let request = CurlRequest(
            method: .get, url: serving.adminAddress + "/metrics", headers: [], connectTimeout: .seconds(5),
            timeout: .seconds(30), spends: false)
        guard case .answered(let page) = await client.perform(request) else { return }
        Canary.keep(page.body, in: .answers)
    }

    /// Posts the SDK's response with that code.
    func post(code: String, subject: String, query: String = "") async throws -> TestAnswer {
        let body = """
            {"response_type":"authorization_code","response":{"code":"\(code)"},"client":{"environment":"sandbox",\
            "paypal_sdk_version":"2.18.1","platform":"iOS","product_name":"PayPal iOS SDK"}}
            """
        return try await call(.post(Array(body.utf8)), "/v1/consents?subject=\(subject)\(query)")
    }

    func record(_ id: String) async throws -> TestAnswer { try await call(.get, "/v1/consents/\(id)") }
    func refresh(_ id: String) async throws -> TestAnswer { try await call(.post([]), "/v1/consents/\(id)/refresh") }

    /// One call of any method on a connection of its own.
    func raw(_ method: String, _ path: String, body: String? = nil, key: String? = nil) async throws -> TestAnswerText {
        let connection = try RawConnection(port: serving.api.port)
        let fields = body.map { "Content-Type: application/json\r\nContent-Length: \($0.utf8.count)\r\n" } ?? ""
        try connection.send(
            "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(key ?? self.key)\r\n"
                + "Connection: close\r\n\(fields)\r\n\(body ?? "")")
        Canary.know(key ?? self.key, in: #fileID)
        Canary.passed(Array((body ?? "").utf8), in: #fileID)
        let text = String(decoding: try await connection.readToEnd(), as: UTF8.self)
        guard let status = Int(text.dropFirst(9).prefix(3)), let end = text.firstRange(of: "\r\n\r\n") else {
            throw NoAnswer()
        }
        let content = Array(text[end.upperBound...].utf8)
        let json = content.isEmpty ? JSONValue.null : try JSONValue.parse(content, as: .callers)
        keep(String(text[..<end.lowerBound]), content)
        return TestAnswerText(status: status, json: json)
    }

    func events(_ id: String) async throws -> [StoredEvent] {
        guard let parsed = ConsentID(id) else { throw NoAnswer() }
        return try await serving.gateway.store.events(of: parsed)
    }
}

extension TestGateway {
    /// As if every gate's and trial's time had come.
    func forgetProviderStates() throws {
        let connection = try SQLiteConnection(
            path: folder + "/consents.db", access: .readWrite, busyTimeout: 10_000)
        try connection.execute("DELETE FROM provider_states")
    }
}
