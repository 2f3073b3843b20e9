// SPDX-License-Identifier: Apache-2.0
import NativeHTTPServer

/// What the server refuses before a request reaches a call.
extension Problem {
    init(_ refusal: HTTPRefusal) {
        switch refusal {
        case .badRequest(let defect): self = .invalidRequest("\(defect)")
        case .bodyTooLarge: self = .bodyTooLarge
        case .headersTooLarge: self = .headersTooLarge
        case .headTimeout, .bodyTimeout:
            self = Problem(
                408, .invalidRequest, "The request came too slowly", "Send the whole request at once.")
        case .tooManyConnections:
            self = Problem(
                503, .providerUnavailable, "There are too many connections",
                "Nothing was read; send the same request again.", retryAfter: 1)
        case .stopping:
            self = Problem(
                503, .providerUnavailable, "The gateway is being stopped", "Send the same request again.",
                retryAfter: 2)
        case .unsendableResponse:
            self = Problem(500, .internal, "Something went wrong here", "The log names it by the request id.")
        }
    }
}
