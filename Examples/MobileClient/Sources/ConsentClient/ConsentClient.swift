// SPDX-License-Identifier: Apache-2.0
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Hands what a person has agreed to over to the gateway, as often as that is of use and no longer.
///
///     switch try await client.keep(authorization) {
///     case .kept(let consent): fillIn(consent.profile)
///     case .askAgain: showConsentScreen()
///     case .tryLater(let seconds): keepForLater(authorization, seconds)
///     case .cannot(let problem): apologize(problem)
///     }
///
/// It follows no redirect, keeps no cookie and no cache, and writes no log.
public struct ConsentClient: Sendable {
    /// How long one call may go on. Beyond it the app gets ``ConsentOutcome/tryLater(after:)``.
    public struct Patience: Sendable {
        /// From the first attempt to the begin of the last, in seconds.
        public let seconds: TimeInterval
        public let attempts: Int

        /// A minute is what a person looks at a spinner for, and a third of a code's life.
        public init(seconds: TimeInterval = 60, attempts: Int = 8) {
            self.seconds = seconds
            self.attempts = attempts
        }
    }

    /// The gateway's address must be `https`, or `http` to this machine.
    public struct InsecureAddress: Error {}

    private let endpoint: URL
    private let credential: Credential
    private let patience: Patience
    private let session: URLSession

    /// - Parameter gateway: its `public_url`, or your backend's that passes the request on.
    public init(
        gateway: URL, credential: Credential, patience: Patience = Patience()
    ) throws(InsecureAddress) {
        let isLocal = ["127.0.0.1", "::1", "localhost"].contains(gateway.host ?? "")
        guard gateway.scheme == "https" || (gateway.scheme == "http" && isLocal) else { throw InsecureAddress() }
        endpoint = gateway.appendingPathComponent("v1/consents")
        self.credential = credential
        self.patience = patience
        let configuration = URLSessionConfiguration.ephemeral
        // The gateway answers within its provider's `timeouts.total`, 10 s by default.
        configuration.timeoutIntervalForRequest = 20
        session = URLSession(configuration: configuration, delegate: NoRedirects(), delegateQueue: nil)
    }

    /// Has the gateway exchange the code and keep the consent.
    ///
    /// It may be called again with the same authorization at any time: a code that the gateway knows is answered with
    /// the record that came of it.
    /// - Parameters:
    ///   - subject: your own identifier of the user, where the credential is an API key; nil for a user's session.
    ///   - notice: what the person was shown, as `ID@VERSION`.
    /// - Throws: `CancellationError` where the task was cancelled. Nothing is lost by it.
    public func keep(
        _ authorization: Authorization, subject: String? = nil, notice: String? = nil
    ) async throws(CancellationError) -> ConsentOutcome {
        let request = request(with: authorization.body(subject: subject, notice: notice))
        let start = Date()
        var attempt = 1
        while true {
            let wait: TimeInterval
            switch try await ask(request) {
            case .outcome(let outcome): return outcome
            case .unspent(let retryAfter):
                wait = delay(retryAfter, after: attempt)
                guard authorization.isAlive(after: wait) else { return .askAgain(.codeTooOld) }
            case .unsettled(let retryAfter):
                wait = delay(retryAfter, after: attempt)
            }
            let isOver = Date().timeIntervalSince(start) + wait > patience.seconds
            guard attempt < patience.attempts, !isOver else { return .tryLater(after: wait) }
            do { try await Task.sleep(nanoseconds: UInt64(wait * 1e9)) } catch { throw CancellationError() }
            attempt += 1
        }
    }

    private func ask(_ request: URLRequest) async throws(CancellationError) -> Verdict {
        do {
            let (body, answer) = try await session.data(for: request)
            guard let answer = answer as? HTTPURLResponse else { return .unsettled(retryAfter: nil) }
            return Verdict(
                status: answer.statusCode, retryAfter: answer.value(forHTTPHeaderField: "Retry-After"),
                requestID: answer.value(forHTTPHeaderField: "X-Request-Id"), body: body)
        } catch {
            if Task.isCancelled { throw CancellationError() }
            // No network, no answer, half an answer: the request may have arrived or not.
            return .unsettled(retryAfter: nil)
        }
    }

    /// What the gateway asks for, else 1, 2, 4 and then 8 seconds; up to a fifth more, so that many apps that were
    /// turned away together do not come back together. An hour at most, which is the gateway's own limit.
    private func delay(_ retryAfter: TimeInterval?, after attempt: Int) -> TimeInterval {
        let seconds = retryAfter ?? Double(1 << min(attempt - 1, 3))
        return min(seconds, 3600) * Double.random(in: 1...1.2)
    }

    private func request(with body: Data) -> URLRequest {
        var request = URLRequest(url: endpoint)
        request.httpMethod = "POST"
        request.httpBody = body
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue("Bearer \(credential.bearer)", forHTTPHeaderField: "Authorization")
        return request
    }
}

extension ConsentClient: Unprintable {
    public var description: String { "a client of the gateway at \(endpoint.host ?? "")" }
}

/// Code and credential go to the address that was given and to no other.
private final class NoRedirects: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
