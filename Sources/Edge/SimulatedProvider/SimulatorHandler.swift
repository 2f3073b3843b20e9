// SPDX-License-Identifier: Apache-2.0
import NativeEventLoop
import NativeHTTPServer
import NativeSystem

/// The simulation behind a server: turns requests into calls, waits where a fault says so, and sends the outcome.
struct SimulatorHandler: HTTPHandler {
    let simulation: Locked<Simulation>
    let group: EventLoopGroup
    let milliseconds: @Sendable () -> Int64

    func admit(_ head: inout HTTPRequestHead) -> HTTPResponse? { nil }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        let call = SimulatedCall(request)
        let now = milliseconds()
        switch simulation.withLock({ $0.outcome(of: call, at: now) }) {
        case .answer(let answer, let delay):
            await wait(delay)
            return HTTPResponse(
                status: answer.status, headers: answer.fields.map { ($0.name, $0.value) }, body: answer.body)
        case .raw(let answer, let delay):
            await wait(delay)
            return .raw(answer)
        }
    }

    /// Sleeps on the connection's own loop; a stopped loop ends the sleep.
    private func wait(_ delay: Duration) async {
        guard delay > .zero, let loop = group.current else { return }
        try? await loop.sleep(until: .now().advanced(by: delay))
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
        return HTTPResponse(status: status, headers: [("Content-Type", "text/plain")])
    }
}

extension SimulatedCall {
    init(_ request: HTTPRequest) {
        var target = request.rawPath
        if let query = request.rawQuery { target += [UInt8(ascii: "?")] + query }
        self.init(
            method: request.method, target: String(decoding: target, as: UTF8.self),
            fields: request.headers.fields.map { field in
                Field(String(decoding: field.name, as: UTF8.self), String(decoding: field.value, as: UTF8.self))
            }, body: request.body)
    }
}
