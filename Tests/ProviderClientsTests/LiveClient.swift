// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCurl
import NativeEventLoop

@testable import ProviderClients

/// A client on a loop of its own, gone with `body`.
func withClient<Value: Sendable>(
    _ body: @Sendable (CurlClient) async throws -> Value
) async throws -> Value {
    let loop = try EventLoop.start(name: "test")
    defer { loop.stop() }
    let client = try CurlClient(loop: loop, configuration: Definitions.transport.curlConfiguration)
    do {
        let value = try await body(client)
        await client.stop()
        return value
    } catch {
        await client.stop()
        throw error
    }
}

/// Lines joined by `|`, without the fields that libcurl adds for the transport.
func withoutTransport(_ request: String) -> String {
    request.split(separator: "\r\n", omittingEmptySubsequences: false).filter { line in
        !["host:", "content-length:", "accept-encoding:"].contains { line.lowercased().hasPrefix($0) }
    }.joined(separator: "|")
}

/// Time that stands still at `newYear`.
struct FixedTime: Timekeeper {
    var now: Instant { newYear }
    var monotonic: Duration { .zero }
    var sinceBoot: Duration { monotonic }
    func sleep(until monotonic: Duration) async throws(CancellationError) {}
}
