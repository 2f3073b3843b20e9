// SPDX-License-Identifier: Apache-2.0
package import NativeEventLoop
import Synchronization

/// An HTTP/1.1 server on libmicrohttpd: a daemon on each loop, all listening on one address.
///
/// A request stays on the loop that accepted its connection. Life: `start` → `drain` → (wait for `openRequests` to be
/// 0) → `stop`, and only then may the loops stop.
package final class HTTPServer: Sendable {
    /// As it was given.
    package let host: String
    /// The port that all loops listen on.
    package let port: UInt16

    private let parts: [ServerLoop]
    private let counters: ServerCounters

    private init(host: String, port: UInt16, parts: [ServerLoop], counters: ServerCounters) {
        self.host = host
        self.port = port
        self.parts = parts
        self.counters = counters
    }

    /// A server that listens, on every loop of the group.
    ///
    /// - Throws: `HTTPServerError`; nothing listens then.
    package static func start(
        on loops: EventLoopGroup, options: HTTPServerOptions, handler: any HTTPHandler
    ) async throws(HTTPServerError) -> HTTPServer {
        if options.port != 0 { try ListeningSocket.checkUnused(host: options.host, port: options.port) }
        let counters = ServerCounters()
        var port = options.port
        var parts: [ServerLoop] = []
        for loop in loops.loops {
            let part = ServerLoop(loop: loop, handler: handler, limits: options.limits, counters: counters)
            do throws(HTTPServerError) {
                port = try await startPart(part, host: options.host, port: port)
                parts.append(part)
            } catch {
                await stop(parts)
                throw error
            }
        }
        return HTTPServer(host: options.host, port: port, parts: parts, counters: counters)
    }

    private static func startPart(
        _ part: ServerLoop, host: String, port: UInt16
    ) async throws(HTTPServerError) -> UInt16 {
        let result = await onLoop(part.loop) { () -> Result<UInt16, HTTPServerError> in
            do throws(HTTPServerError) {
                let listener = try ListeningSocket.open(host: host, port: port)
                let bound = listener.port
                try part.start(on: listener)
                return .success(bound)
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// Requests whose head is in and whose handler has not ended, or whose answer is not delivered.
    package var openRequests: Int {
        counters.openRequests.load(ordering: .relaxed)
    }

    /// Connections that are open.
    package var openConnections: Int {
        counters.connections.load(ordering: .relaxed)
    }

    /// Stops listening and closes idle connections; from now on every answer says `Connection: close`.
    ///
    /// Requests under way, and those whose bytes have arrived, are served on.
    package func drain() async {
        for part in parts { await HTTPServer.onLoop(part.loop) { part.drain() } }
    }

    /// Closes everything. What a handler has not answered yet is answered as `HTTPRefusal.stopping`; the handler runs
    /// to its end, unheard. Must not be called after the loops have stopped.
    package func stop() async {
        await HTTPServer.stop(parts)
    }

    private static func stop(_ parts: [ServerLoop]) async {
        for part in parts { await onLoop(part.loop) { part.stop() } }
    }

    private static func onLoop<Value: Sendable>(
        _ loop: EventLoop, _ body: @escaping @Sendable () -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: body()) }
        }
    }
}
