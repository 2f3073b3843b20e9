// SPDX-License-Identifier: Apache-2.0
package import NativeEventLoop
import NativeSystem
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

    private struct State: Sendable {
        /// Those that listen, and retired ones with connections left.
        var parts: [ServerLoop]
        var isDraining = false
        var isStopped = false
    }

    private let state: Locked<State>
    private let counters: ServerCounters

    private init(host: String, port: UInt16, parts: [ServerLoop], counters: ServerCounters) {
        self.host = host
        self.port = port
        state = Locked(State(parts: parts))
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
            let part = ServerLoop(
                loop: loop, handler: handler, limits: options.limits, counters: counters, identity: options.identity)
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

    /// Stops listening and closes connections that stay idle for a second; from now on every answer says `Connection: close`.
    ///
    /// Requests under way, and those whose bytes have arrived, are served on.
    package func drain() async {
        let parts = state.withLock { state in
            state.isDraining = true
            return state.parts
        }
        await HTTPServer.drain(parts)
    }

    /// Closes everything. What a handler has not answered yet is answered as `HTTPRefusal.stopping`; the handler runs
    /// to its end, unheard. Must not be called after the loops have stopped.
    package func stop() async {
        let parts = state.withLock { state in
            state.isStopped = true
            return state.parts
        }
        await HTTPServer.stop(parts)
    }

    /// Shows another certificate to every connection from now on; those that are open are served to their end.
    ///
    /// - Throws: `HTTPServerError`: `noTLS` where the server speaks plain HTTP; else loops that could not change show
    ///   the old certificate, and no connection is lost.
    package func show(_ identity: TLSIdentity) async throws(HTTPServerError) {
        for part in state.withLock({ $0.parts }) {
            guard part.identity != nil else { throw .noTLS }
            let result = await HTTPServer.onLoop(part.loop) {
                () -> Result<(ServerLoop?, isOver: Bool), HTTPServerError> in
                do throws(HTTPServerError) {
                    let next = try part.successor(showing: identity)
                    return .success((next, part.isOver))
                } catch { return .failure(error) }
            }
            let (next, isOver) = try result.get()
            if let next { await add(next) }
            if isOver { state.withLock { $0.parts.removeAll { $0 === part } } }
        }
    }

    /// Takes a part in, and lets it share what was asked of the server meanwhile.
    private func add(_ part: ServerLoop) async {
        let (isDraining, isStopped) = state.withLock { state in
            state.parts.append(part)
            return (state.isDraining, state.isStopped)
        }
        if isStopped { return await HTTPServer.stop([part]) }
        if isDraining { await HTTPServer.drain([part]) }
    }

    private static func drain(_ parts: [ServerLoop]) async {
        for part in parts { await onLoop(part.loop) { part.drain() } }
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
