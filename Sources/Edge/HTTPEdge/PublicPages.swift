// SPDX-License-Identifier: Apache-2.0
import NativeHTTPServer
import NativeJSON
import NativeSystem
import RecordRendering

/// What anyone may read: no caller is asked for.
struct PublicPages: Sendable {
    let openAPI: OpenAPIDocument
    let receipts: ReceiptWriter
    /// The public keys of the client's assertions, as they are now: a JWK Set.
    let clientKeys: @Sendable () -> JSONValue

    static let openAPIPath = "/openapi.json"
    static let receiptKeysPath = "/.well-known/receipt-keys.json"
    static let clientKeysPath = "/.well-known/jwks.json"
    static let paths = [openAPIPath, receiptKeysPath, clientKeysPath]

    /// The path of the page that a request is for; nil where it is for none of them.
    static func path(of head: HTTPRequestHead) -> String? {
        paths.first { head.rawPath.span.elementsEqual($0.utf8.span) }
    }

    /// - Returns: nil where the path is no public one.
    /// - Throws: `Problem` 405 and 406.
    func answer(to head: HTTPRequestHead, _ context: RequestContext) throws(Problem) -> HTTPResponse? {
        guard let path = PublicPages.path(of: head) else { return nil }
        guard head.method == "GET" || head.method == "HEAD" else { throw .methodNotAllowed("GET, HEAD") }
        guard MediaTypes.acceptsJSON(head.headers) else { throw .notAcceptable }
        // Made anew each time: the keys are those that the ring holds now.
        if path == PublicPages.receiptKeysPath { return Answer.json(receipts.keySet(), context) }
        if path == PublicPages.clientKeysPath { return Answer.json(clientKeys(), context) }
        return Answer.json(openAPI.bytes, context)
    }
}
