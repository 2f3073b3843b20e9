// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeHTTPServer
import NativeJSON

/// How answers look on the wire.
enum Answer {
    /// A success with a JSON body.
    static func json(
        _ value: JSONValue, status: Int = 200, _ context: RequestContext, headers: [(name: String, value: String)] = []
    ) -> HTTPResponse {
        var all = common("application/json", context)
        all.append(contentsOf: headers)
        return HTTPResponse(status: status, headers: all, body: value.serialized(.compact))
    }

    /// One page of a list.
    static func list(_ items: [JSONValue], next: String?) -> JSONValue {
        var json = JSONValue.object()
        json.set("items", items)
        json.set("next_cursor", next)
        return json
    }

    /// A success whose JSON was rendered before.
    static func json(_ bytes: [UInt8], _ context: RequestContext) -> HTTPResponse {
        HTTPResponse(status: 200, headers: common("application/json", context), body: bytes)
    }

    /// A success in the form that the caller preferred of several.
    static func bytes(_ body: [UInt8], type: String, _ context: RequestContext) -> HTTPResponse {
        HTTPResponse(status: 200, headers: common(type, context) + [("Vary", "Accept")], body: body)
    }

    /// A success that is no JSON.
    static func text(_ text: String, type: String, _ context: RequestContext) -> HTTPResponse {
        HTTPResponse(status: 200, headers: common(type, context), body: Array(text.utf8))
    }

    /// A problem document (RFC 9457), the same members for every failure.
    static func problem(_ problem: Problem, _ context: RequestContext, closes: Bool = false) -> HTTPResponse {
        var body = JSONValue.object()
        body.set("type", "urn:consent-gateway:problem:" + problem.code)
        body.set("title", problem.title)
        body.set("status", problem.status)
        body.set("detail", problem.detail)
        body.set("code", problem.code)
        body.set("request_id", context.requestID)
        if let statement = problem.statement {
            if let error = statement.error { body.set("provider_error", error) }
            if let text = statement.errorDescription { body.set("provider_error_description", text) }
            if let id = statement.correlationID { body.set("provider_correlation_id", id) }
        }
        if let delay = problem.retryAfter { body.set("retry_after", delay) }
        var headers = common("application/problem+json", context)
        if let delay = problem.retryAfter { headers.append(("Retry-After", String(delay))) }
        if let challenge = problem.challenge { headers.append(("WWW-Authenticate", challenge)) }
        if let allow = problem.allow { headers.append(("Allow", allow)) }
        return HTTPResponse(
            status: problem.status, headers: headers, body: body.serialized(.compact), closesConnection: closes)
    }

    private static func common(_ type: String, _ context: RequestContext) -> [(name: String, value: String)] {
        [("Content-Type", type), ("Cache-Control", "no-store"), ("X-Request-Id", context.requestID)]
    }
}
