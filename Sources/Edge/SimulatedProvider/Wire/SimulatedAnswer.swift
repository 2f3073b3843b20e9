// SPDX-License-Identifier: Apache-2.0
import NativeJSON

/// An answer of the simulated provider.
package struct SimulatedAnswer: Sendable, Equatable {
    package var status: Int
    package var fields: [SimulatedCall.Field]
    package var body: [UInt8]

    init(status: Int, type: String, body: [UInt8]) {
        self.status = status
        fields = [.init("Content-Type", type), .init("Cache-Control", "no-store")]
        self.body = body
    }

    init(status: Int, json: JSONValue) {
        self.init(status: status, type: "application/json", body: json.serialized(.compact))
    }

    func adding(_ name: String, _ value: String) -> SimulatedAnswer {
        var answer = self
        answer.fields.append(.init(name, value))
        return answer
    }

    // MARK: The answers of faults

    /// PayPal's words for too many calls, with that `Retry-After`.
    static func throttled(retryAfter field: String?) -> SimulatedAnswer {
        let answer = SimulatedAnswer(
            status: 429,
            json: [
                "name": "RATE_LIMIT_REACHED", "message": "Too many requests. Blocked due to rate limiting.",
                "debug_id": "d15ab1ed00429", "links": [],
            ])
        return field.map { answer.adding("Retry-After", $0) } ?? answer
    }

    static var unavailable: SimulatedAnswer {
        SimulatedAnswer(
            status: 503,
            json: [
                "name": "SERVICE_UNAVAILABLE", "message": "Service Unavailable.", "debug_id": "d15ab1ed00503",
            ])
    }

    /// What a firewall puts in place of an answer, under the name that it was asked for.
    static var blockedPage: SimulatedAnswer {
        let page = "<!DOCTYPE html><html><head><title>Blocked</title></head><body><h1>Blocked</h1></body></html>\n"
        return SimulatedAnswer(status: 200, type: "application/json", body: Array(page.utf8))
    }
}
