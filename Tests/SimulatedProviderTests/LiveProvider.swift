// SPDX-License-Identifier: Apache-2.0
import NativeEventLoop
import NativeJSON
import NativeSystem
import SimulatedProvider
import TestSupport

/// A simulated provider on a free port, with a clock that only the test moves.
struct LiveProvider {
    let group: EventLoopGroup
    let provider: SimulatedProvider
    let clock: Locked<Int64>

    /// What `body` returns, with a provider that runs until then.
    static func run(
        _ change: (inout SimulatorOptions) -> Void = { _ in }, _ body: (LiveProvider) async throws -> Void
    ) async throws {
        var options = SimulatorOptions()
        change(&options)
        let clock = Locked<Int64>(1_767_225_600_000)
        let group = try EventLoopGroup.start(name: "simulated", count: 2)
        let provider = try await SimulatedProvider.start(
            on: group, host: "127.0.0.1", port: 0, options: options, random: SecureGenerator(),
            milliseconds: { clock.withLock { $0 } })
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await body(LiveProvider(group: group, provider: provider, clock: clock)))
        } catch {
            outcome = .failure(error)
        }
        await provider.stop()
        group.stop()
        try outcome.get()
    }

    /// Every byte that comes back on a connection of its own, until the provider closes it.
    func exchange(_ request: String) async throws -> String {
        let connection = try RawConnection(port: provider.port)
        try connection.send(request)
        let answer = try await connection.readToEnd()
        for message in [Array(request.utf8), answer] { Canary.passed(message, in: #fileID) }
        return String(decoding: answer, as: UTF8.self)
    }

    /// Head and body of the answer to a code.
    func redeem(_ code: String, basic: String = Bench.basic) async throws -> String {
        try await exchange(
            Self.post("/v1/oauth2/token", formText(["grant_type": "authorization_code", "code": code]), basic))
    }

    static func post(_ path: String, _ body: String, _ basic: String) -> String {
        [
            "POST \(path) HTTP/1.1", "Host: localhost", "Authorization: \(basic)",
            "Content-Type: application/x-www-form-urlencoded", "Content-Length: \(body.utf8.count)",
            "Connection: close", "", body,
        ].joined(separator: "\r\n")
    }

    static func get(_ target: String, bearer: String) -> String {
        "GET \(target) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(bearer)\r\nConnection: close\r\n\r\n"
    }
}

/// The body of an answer, read as JSON.
func json(in answer: String) throws -> JSONValue {
    guard let end = answer.range(of: "\r\n\r\n") else { return .null }
    return try JSONValue.parse(Array(answer[end.upperBound...].utf8), as: .callers)
}

extension String {
    /// Where the text stands first.
    func range(of text: String) -> Range<String.Index>? { firstRange(of: text) }
}
