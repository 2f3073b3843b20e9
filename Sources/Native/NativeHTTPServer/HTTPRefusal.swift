// SPDX-License-Identifier: Apache-2.0

/// Why the server itself does not let a request through; the handler renders it.
package enum HTTPRefusal: Sendable, Equatable {
    /// Not HTTP as it must be, or HTTP that two servers could read differently: 400, and the connection ends.
    case badRequest(HTTPDefect)
    /// 413, and the connection ends.
    case bodyTooLarge
    /// 431, and the connection ends.
    case headersTooLarge
    /// 408: the head did not come in time, however lively the connection was.
    case headTimeout
    /// 408: the body did not come in time.
    case bodyTimeout
    /// 503, before anything was read.
    case tooManyConnections
    /// 503: the server is being stopped, and the handler has not answered yet.
    case stopping
    /// 500: the handler's response has a status or a header that cannot be sent.
    case unsendableResponse
}

/// What is wrong with a head, or with how a body is framed.
package enum HTTPDefect: Error, Sendable, Equatable, CustomStringConvertible {
    case requestLine
    case target
    /// A folded line, a line that ends without CR LF, or a NUL: the parser leaves the same traces of them.
    case lineEnd
    case fieldName
    case fieldValue
    case missingHost
    case severalHosts
    case lengthBesideTransferCoding
    case severalLengths
    case invalidLength
    case transferCoding
    /// Found in the body, not in the head.
    case chunk

    /// A fixed sentence.
    package var description: String {
        switch self {
        case .requestLine: "The request line is malformed."
        case .target: "The request target is malformed."
        case .lineEnd: "A line of the head is folded, does not end with CR LF, or holds a NUL."
        case .fieldName: "A field name is no token."
        case .fieldValue: "A field value holds a control character."
        case .missingHost: "The Host field is missing."
        case .severalHosts: "There is more than one Host field."
        case .lengthBesideTransferCoding: "Content-Length and Transfer-Encoding exclude each other."
        case .severalLengths: "There is more than one Content-Length field."
        case .invalidLength: "Content-Length is no number of bytes."
        case .transferCoding: "The transfer coding is not chunked, or not allowed here."
        case .chunk: "The line before a chunk is too long."
        }
    }
}
