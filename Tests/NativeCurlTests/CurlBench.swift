// SPDX-License-Identifier: Apache-2.0
import NativeCurl
import NativeEventLoop
import Testing

/// Runs `body` with a client on a loop of its own, and stops both.
func withClient<Result: Sendable>(
    _ configuration: CurlConfiguration = CurlConfiguration(),
    _ body: @Sendable (CurlClient) async throws -> Result
) async throws -> Result {
    let loop = try EventLoop.start(name: "curl-test")
    defer { loop.stop() }
    let client = try CurlClient(loop: loop, configuration: configuration)
    do {
        let result = try await body(client)
        await client.stop()
        return result
    } catch {
        await client.stop()
        throw error
    }
}

extension CurlRequest {
    static func get(_ url: String, timeout: Duration = .seconds(60)) -> CurlRequest {
        CurlRequest(
            method: .get, url: url, headers: [], connectTimeout: .seconds(30), timeout: timeout, spends: false)
    }

    /// A request that spends a code.
    static func spend(
        _ url: String, timeout: Duration = .seconds(60), fence: (@Sendable () -> Bool)? = nil
    ) -> CurlRequest {
        CurlRequest(
            method: .postForm(Array("grant_type=authorization_code&code=C".utf8)), url: url, headers: [],
            connectTimeout: .seconds(30), timeout: timeout, spends: true, beforeFirstByte: fence)
    }
}

extension CurlResult {
    var answer: CurlAnswer? {
        if case .answered(let answer) = self { answer } else { nil }
    }
    var notSent: NotSentReason? {
        if case .notSent(let reason) = self { reason } else { nil }
    }
    var unknown: UnknownReason? {
        if case .unknown(let reason) = self { reason } else { nil }
    }
    /// The name of the case of an unknown outcome.
    var unknownName: String? {
        unknown.map { String("\($0)".prefix { $0.isLetter }) }
    }
}

/// A small whole answer that keeps the connection.
let okay = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

/// Answers every request of every connection alike.
func serving(_ answer: String) -> ScriptedServer {
    ScriptedServer { peer in
        while peer.readRequest() != nil { peer.write(answer) }
    }
}
