// SPDX-License-Identifier: Apache-2.0
import NativeHTTPServer

/// What anyone may read: no caller is asked for.
struct PublicPages: Sendable {
    let openAPI: OpenAPIDocument

    static let openAPIPath = "/openapi.json"

    /// - Returns: nil where the path is no public one.
    /// - Throws: `Problem` 405 and 406.
    func answer(to head: HTTPRequestHead, _ context: RequestContext) throws(Problem) -> HTTPResponse? {
        guard head.rawPath.elementsEqual(PublicPages.openAPIPath.utf8) else { return nil }
        guard head.method == "GET" || head.method == "HEAD" else { throw .methodNotAllowed("GET, HEAD") }
        guard MediaTypes.acceptsJSON(head.headers) else { throw .notAcceptable }
        return Answer.json(openAPI.bytes, context)
    }
}
