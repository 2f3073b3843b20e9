// SPDX-License-Identifier: Apache-2.0
package import Consents
package import NativeCurl
import NativeSystem

/// A provider over libcurl. It sends each request once and repeats nothing: a refused or lost one is told as such.
package struct CurlProviderConnection: ProviderConnection {
    private let definition: ProviderDefinition
    private let requests: Locked<RequestBuilder>
    private let tokens: TokenReader
    private let profiles: ProfileReader
    private let revocations: RevocationReader
    private let timekeeper: any Timekeeper
    private let client: @Sendable () -> CurlClient?

    /// - Parameters:
    ///   - timekeeper: tells civil time, for a `Retry-After` that is a date.
    ///   - client: the client of the loop that the caller is on, made with the definition's `curlConfiguration`; nil
    ///     where the caller is on no loop, or the loops are being stopped: then nothing is sent.
    package init(
        _ definition: ProviderDefinition, timekeeper: any Timekeeper, client: @escaping @Sendable () -> CurlClient?
    ) {
        self.definition = definition
        requests = Locked(RequestBuilder(definition))
        tokens = TokenReader(definition.answers)
        profiles = ProfileReader(definition.claims, definition.answers)
        revocations = RevocationReader(definition.answers)
        self.timekeeper = timekeeper
        self.client = client
    }

    package var facts: ProviderFacts { definition.facts }

    /// Shows other credentials from now on, for the same client: its secret was changed.
    package func take(_ authentication: ClientAuthentication) {
        var changed = definition
        changed.authentication = authentication
        let builder = RequestBuilder(changed)
        requests.withLock { $0 = builder }
    }

    private var builder: RequestBuilder { requests.withLock { $0 } }

    package func exchange(_ code: consuming AuthorizationCode, _ parameters: ExchangeParameters) async -> TokenOutcome {
        await spend(builder.exchange(code.redeem(), parameters), as: .code, fence: nil)
    }

    package func refresh(
        _ refreshToken: SecretText, fence: @escaping @Sendable () -> Bool
    ) async -> TokenOutcome {
        await spend(builder.refresh(refreshToken), as: .refresh, fence: fence)
    }

    package func revoke(_ token: SecretText, kind: TokenKind) async -> RevocationOutcome {
        guard let request = builder.revocation(token, kind) else { return .unsupported }
        guard let client = client() else { return .failed(ProviderStatement(status: 0), retryAfter: nil) }
        // Harmless: revoking a token twice is as good as once, so libcurl may send it again.
        let timeout = definition.facts.timeouts.total
        switch await perform(client, curlRequest(request, timeout: timeout, spends: false, fence: nil)) {
        case .answered(let answer):
            return revocations.read(ProviderAnswer(answer), sent: request.sent, now: timekeeper.now)
        case .unknown(let reason): return .failed(ProviderStatement(status: reason.status), retryAfter: nil)
        case .notSent: return .failed(ProviderStatement(status: 0), retryAfter: nil)
        }
    }

    package func profile(accessToken: SecretText, limit: Duration) async -> ProfileOutcome {
        guard let request = builder.userinfo(accessToken) else {
            return .refused(ProviderStatement(status: 0, errorDescription: "no userinfo endpoint is configured"))
        }
        guard let client = client() else { return .failed(ProviderStatement(status: 0)) }
        switch await perform(client, curlRequest(request, timeout: limit, spends: false, fence: nil)) {
        case .answered(let answer): return profiles.read(ProviderAnswer(answer), sent: request.sent)
        case .notSent, .unknown(.timeout), .unknown(.reset), .unknown(.closedWithoutAnswer),
            .unknown(.secondSendPrevented), .unknown(.protocolError), .unknown(.stopped):
            return .failed(ProviderStatement(status: 0))
        case .unknown(.cutOff(let answer)): return .failed(ProviderStatement(status: answer.status))
        case .unknown(.bodyTooLarge(let status)), .unknown(.undecodable(let status)):
            return .failed(ProviderStatement(status: status))
        }
    }

    private func spend(
        _ request: ProviderRequest, as call: TokenReader.Call, fence: (@Sendable () -> Bool)?
    ) async -> TokenOutcome {
        guard let client = client() else { return .notSent(.stopped) }
        let timeout = definition.facts.timeouts.answer
        switch await perform(client, curlRequest(request, timeout: timeout, spends: true, fence: fence)) {
        case .answered(let answer):
            return tokens.read(ProviderAnswer(answer), to: call, sent: request.sent, now: timekeeper.now)
        case .unknown(.cutOff(let answer)):
            return tokens.read(cutOff: ProviderAnswer(answer), to: call, sent: request.sent, now: timekeeper.now)
        case .notSent(let reason): return .notSent(reason.meaning)
        case .unknown(.bodyTooLarge(let status)) where 200...299 ~= status,
            .unknown(.undecodable(let status)) where 200...299 ~= status:
            return .unreadable(SecretText(""), ProviderStatement(status: status))
        case .unknown(let reason): return .unknown(reason.meaning, ProviderStatement(status: reason.status))
        }
    }

    private func perform(_ client: CurlClient, _ request: CurlRequest) async -> CurlResult {
        let result = await client.perform(request)
        if case .answered(let answer) = result { HeardStatus.current?.status = answer.status }
        return result
    }

    private func curlRequest(
        _ request: ProviderRequest, timeout: Duration, spends: Bool, fence: (@Sendable () -> Bool)?
    ) -> CurlRequest {
        CurlRequest(
            method: request.form.map(CurlMethod.postForm) ?? .get, url: request.url, headers: request.headers,
            connectTimeout: min(definition.facts.timeouts.connect, timeout), timeout: timeout, spends: spends,
            http2: definition.transport.http2, addresses: .any, beforeFirstByte: fence)
    }
}
