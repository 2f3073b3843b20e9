// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What one attempt has shown, read from the answer alone: the gateway's retry table as a function.
///
/// The gateway sends no code twice and answers a code that it knows with the record it has made of it, so the same
/// request is safe to send again whatever became of the last one. The question is only whether it is of use.
enum Verdict {
    case outcome(ConsentOutcome)
    /// The provider was not asked: the code is unspent, as long as it lives. Seconds, where the gateway names them.
    case unspent(retryAfter: TimeInterval?)
    /// The request, or its answer, is on the way or was lost on it; the gateway may have the consent by now.
    case unsettled(retryAfter: TimeInterval?)

    /// - Parameter retryAfter: the header field `Retry-After`, in seconds.
    init(status: Int, retryAfter: String?, requestID: String?, body: Data) {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let delay = retryAfter.flatMap(TimeInterval.init).flatMap { $0 >= 0 && $0.isFinite ? $0 : nil }
        let word = (try? decoder.decode(ProblemDocument.self, from: body))?.code
        let problem = GatewayProblem(status: status, code: word, requestID: requestID)

        switch (status, word) {
        case (200, _), (201, _):
            guard let consent = try? decoder.decode(Consent.self, from: body) else {
                self = .outcome(.cannot(problem))
                return
            }
            self = .outcome(.kept(consent))
        case (_, let word?) where AskAgain(rawValue: word) != nil:
            self = .outcome(AskAgain(rawValue: word).map(ConsentOutcome.askAgain) ?? .cannot(problem))
        case (_, "exchange_pending"):
            self = .unsettled(retryAfter: delay)
        case (503, "provider_unavailable"), (429, _):
            self = .unspent(retryAfter: delay)
        // Too slow a request, and what a proxy or a load balancer answers in the gateway's place.
        case (408, _), (502, nil), (503, nil), (504, nil):
            self = .unsettled(retryAfter: delay)
        default:
            self = .outcome(.cannot(problem))
        }
    }
}

/// A problem document (RFC 9457), as far as it is acted on.
private struct ProblemDocument: Decodable {
    let code: String
}
