// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@Suite("The scripted provider of the tests")
struct ScriptedProviderTests {
    private static let request = "POST /token HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"

    @Test("it answers each request with the script's bytes and keeps the request's")
    func answers() async throws {
        let provider = try ScriptedProvider { .http(200, "{\"n\":\($0.number)}") }
        defer { provider.stop() }
        let connection = try RawConnection(port: provider.port)
        for number in 1...2 {
            try connection.send(Self.request)
            let answer = String(decoding: try await connection.read(through: "}"), as: UTF8.self)
            #expect(answer.hasSuffix("\r\nContent-Length: 7\r\n\r\n{\"n\":\(number)}"))
        }
        #expect(provider.requests.map(\.text) == [Self.request, Self.request])
        let arrival = try await provider.arrivals.next()
        #expect(arrival.line == "POST /token HTTP/1.1" && arrival.body == "hello" && arrival.field("host") == "x")
        #expect(provider.acceptedConnections == 1)
    }

    @Test("it cuts an answer at any byte", arguments: [0, 1, 20])
    func cut(count: Int) async throws {
        let whole = ScriptedReply.http(200, "{}")
        let provider = try ScriptedProvider { _ in whole.cut(after: count, then: .close) }
        defer { provider.stop() }
        let connection = try RawConnection(port: provider.port)
        try connection.send(Self.request)
        #expect(try await connection.readToEnd() == Array(whole.parts.joined().prefix(count)))
    }

    @Test("it drips, resets and holds")
    func ends() async throws {
        let provider = try ScriptedProvider { request in
            switch request.number {
            case 1: ScriptedReply.http(200, "{}").dripping
            case 2: .silence(then: .reset)
            default: .silence(then: .hold)
            }
        }
        let connection = try RawConnection(port: provider.port)
        try connection.send(Self.request)
        _ = try await connection.read(through: "{}")
        try connection.send(Self.request)
        #expect(try await connection.readToEnd().isEmpty)
        let other = try RawConnection(port: provider.port)
        try other.send(Self.request)
        _ = try await provider.arrivals.next(3)
        provider.stop()
        #expect(try await other.readToEnd().isEmpty)
    }
}
