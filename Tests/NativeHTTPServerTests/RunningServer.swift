// SPDX-License-Identifier: Apache-2.0
import NativeEventLoop
import NativeHTTPServer
import NativeSystem
import TestSupport

/// A handler made of closures; what the server refuses it renders as a line of text.
struct ScriptedHandler: HTTPHandler {
    var admission: @Sendable (HTTPRequestHead) -> HTTPResponse? = { _ in nil }
    var response: @Sendable (HTTPRequest) async -> HTTPResponse

    func admit(_ head: inout HTTPRequestHead) -> HTTPResponse? {
        admission(head)
    }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        await response(request)
    }

    func refusal(_ refusal: HTTPRefusal, head: HTTPRequestHead?) -> HTTPResponse {
        let status =
            switch refusal {
            case .badRequest: 400
            case .bodyTooLarge: 413
            case .headersTooLarge: 431
            case .headTimeout, .bodyTimeout: 408
            case .tooManyConnections, .stopping: 503
            case .unsendableResponse: 500
            }
        return HTTPResponse(
            status: status, headers: [("Content-Type", "text/plain")], body: Array("refused: \(refusal)".utf8))
    }
}

/// A server on loops of its own, for the time of one test.
struct RunningServer {
    let loops: EventLoopGroup
    let server: HTTPServer

    static let limits = HTTPServerOptions.Limits(
        bodyBytes: 4_096, headBytes: 2_048, connections: 1_000, headTimeout: .seconds(20), bodyTimeout: .seconds(20),
        idleTimeout: .seconds(20))

    static func use<Value>(
        loops count: Int = 1, host: String = "127.0.0.1", limits: HTTPServerOptions.Limits = limits,
        identity: TLSIdentity? = nil,
        handler: ScriptedHandler, _ body: (RunningServer) async throws -> Value
    ) async throws -> Value {
        let loops = try EventLoopGroup.start(name: "http", count: count)
        let options = HTTPServerOptions(host: host, port: 0, limits: limits, identity: identity)
        let server = try await HTTPServer.start(on: loops, options: options, handler: handler)
        let running = RunningServer(loops: loops, server: server)
        do {
            let value = try await body(running)
            await server.stop()
            loops.stop()
            return value
        } catch {
            await server.stop()
            loops.stop()
            throw error
        }
    }

    func connect() throws -> RawConnection {
        try RawConnection(port: server.port)
    }

    /// What comes back for `request` until the server closes.
    func exchange(_ request: String) async throws -> String {
        let connection = try connect()
        try connection.send(request)
        return String(decoding: try await connection.readToEnd(), as: UTF8.self)
    }
}

extension RawConnection {
    /// The next answer, whole, by its Content-Length.
    func readAnswer(within limit: Duration = .seconds(10)) async throws -> String {
        let head = String(decoding: try await read(through: "\r\n\r\n", within: limit), as: UTF8.self)
        let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length: ") }
        let length = line.flatMap { Int($0.dropFirst("content-length: ".count)) } ?? 0
        return head + String(decoding: try await read(count: length, within: limit), as: UTF8.self)
    }
}

/// Answers with method, path, query and body, as they came.
let echo = ScriptedHandler { request in
    let query = request.rawQuery.map { "?" + String(decoding: $0, as: UTF8.self) } ?? ""
    let text = "\(request.method) \(String(decoding: request.rawPath, as: UTF8.self))\(query) "
    return HTTPResponse(status: 200, body: Array(text.utf8) + request.body)
}
