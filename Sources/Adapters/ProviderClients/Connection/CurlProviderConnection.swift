// SPDX-License-Identifier: Apache-2.0
package import Consents
package import NativeCurl
import NativeSystem

/// A provider over libcurl. It sends each request once and repeats nothing: a refused or lost one is told as such. Only
/// where the provider refuses the client's credentials, and so has taken nothing, the next configured secret is tried.
package final class CurlProviderConnection: ProviderConnection {
    private let definition: ProviderDefinition
    private let secrets: Locked<SecretsInOrder>
    private let tokens: TokenReader
    private let profiles: ProfileReader
    private let revocations: RevocationReader
    private let timekeeper: any Timekeeper
    private let order: SecretOrder?
    private let client: @Sendable () -> CurlClient?
    private let trust: ProviderTrust

    /// - Parameters:
    ///   - trust: what tells that its answers are genuine, and where it is asked.
    ///   - timekeeper: tells civil time, for a `Retry-After` that is a date.
    ///   - order: what all processes know of the client's secrets; nil where this connection goes by its own calls.
    ///   - client: the client of the loop that the caller is on, made with the definition's `curlConfiguration`; nil
    ///     where the caller is on no loop, or the loops are being stopped: then nothing is sent.
    package init(
        _ definition: ProviderDefinition, _ trust: ProviderTrust, timekeeper: any Timekeeper, order: SecretOrder?,
        client: @escaping @Sendable () -> CurlClient?
    ) {
        self.trust = trust
        self.definition = definition
        secrets = Locked(SecretsInOrder(definition))
        tokens = TokenReader(definition.answers)
        profiles = ProfileReader(definition.claims, definition.answers)
        revocations = RevocationReader(definition.answers)
        self.timekeeper = timekeeper
        self.order = order
        self.client = client
    }

    /// Of a provider whose endpoints are all configured and whose ID tokens are not looked at.
    package convenience init(
        _ definition: ProviderDefinition, timekeeper: any Timekeeper, order: SecretOrder?,
        client: @escaping @Sendable () -> CurlClient?
    ) {
        self.init(definition, .none, timekeeper: timekeeper, order: order, client: client)
    }

    package var facts: ProviderFacts { definition.facts }
    package var identity: (any IdentityCheck)? { trust.identity }
    package var answeringIssuer: AnsweringIssuer { get async { await trust.issuer() } }

    /// Shows other credentials from now on, for the same client: its secret was changed.
    package func take(_ authentications: [ClientAuthentication]) {
        var changed = definition
        changed.authentications = authentications
        secrets.withLock { $0 = $0.replaced(by: changed) }
    }

    package func exchange(_ code: consuming AuthorizationCode, _ parameters: ExchangeParameters) async -> TokenOutcome {
        let text = code.redeem()
        return await spend(as: .code, fence: nil) { $0.exchange(text, parameters, at: $1) }
    }

    package func refresh(
        _ refreshToken: SecretText, fence: @escaping @Sendable () -> Bool
    ) async -> TokenOutcome {
        await spend(as: .refresh, fence: fence) { $0.refresh(refreshToken, at: $1) }
    }

    /// Sends with the secret that worked last, and with the next ones while the provider refuses our credentials: what
    /// it refuses for that it has not taken (refresh.md, *What an outcome means*).
    private func spend(
        as call: TokenReader.Call, fence: (@Sendable () -> Bool)?,
        _ request: (RequestBuilder, _ tokenEndpoint: String) -> ProviderRequest
    ) async -> TokenOutcome {
        if secrets.withLock({ $0.areInQuestion }) { await learnOrder() }
        var candidates = secrets.withLock { $0.candidates }[...]
        var place: Target?
        if let places = trust.places {
            switch await places.find(.token) {
            case .at(let url, let addresses): place = Target(url: url, addresses: addresses)
            case .none: return .notSent(.configuration)
            case .unavailable: return .notSent(.discovery)
            }
        }
        let endpoint = place?.url ?? facts.issuer.tokenEndpoint
        while let candidate = candidates.popFirst() {
            var outcome = await spend(request(candidate.builder, endpoint), at: place, as: call, fence: fence)
            if call == .refresh, definition.answers.isDeathConfirmed, case .rejected(let statement) = outcome {
                outcome = await confirmed(statement, candidate.builder, at: place)
            }
            if case .credentialsRefused = outcome, !candidates.isEmpty { continue }
            if case .granted = outcome { secrets.withLock { $0.prefer(candidate) } }
            return outcome
        }
        return .notSent(.configuration)
    }

    /// What a refused refresh means at a provider that answers a wrong secret likewise: it is asked with a code that it
    /// cannot have given, and refuses either the code or the client. Where it does neither nobody knows, and the grant
    /// is not called dead.
    private func confirmed(
        _ statement: ProviderStatement, _ builder: RequestBuilder, at place: Target?
    ) async -> TokenOutcome {
        let parameters = ExchangeParameters(
            isSDKCode: false, redirectURI: facts.redirectURI ?? facts.allowedRedirectURIs.first,
            codeVerifier: SecretText(String(repeating: "consent-gateway-", count: 3)))
        let endpoint = place?.url ?? facts.issuer.tokenEndpoint
        let probe = builder.exchange(SecretText("consent-gateway-probe"), parameters, at: endpoint)
        // Harmless: it spends nothing.
        let request = curlRequest(
            probe, place?.addresses ?? .any, timeout: facts.timeouts.total, spends: probe.isOneTime, fence: nil)
        guard let client = client(), case .answered(let answer) = await perform(client, request) else {
            return .requestRefused(statement)
        }
        switch tokens.read(ProviderAnswer(answer), to: .code, sent: probe.sent, now: timekeeper.now) {
        case .rejected: return .rejected(statement)
        case .credentialsRefused(let refusal): return .credentialsRefused(refusal)
        default: return .requestRefused(statement)
        }
    }

    package func revoke(_ token: SecretText, kind: TokenKind) async -> RevocationOutcome {
        if secrets.withLock({ $0.areInQuestion }) { await learnOrder() }
        var candidates = secrets.withLock { $0.candidates }[...]
        var place: Target?
        if let places = trust.places {
            switch await places.find(.revocation) {
            case .at(let url, let addresses): place = Target(url: url, addresses: addresses)
            case .none: return .unsupported
            case .unavailable: return .failed(ProviderStatement(status: 0), retryAfter: nil)
            }
        }
        guard let url = place?.url ?? definition.revocationEndpoint else { return .unsupported }
        let audience = await tokenEndpoint
        while let candidate = candidates.popFirst() {
            let request = candidate.builder.revocation(token, kind, at: url, tokenEndpoint: audience)
            let outcome = await revoke(request, place?.addresses ?? .any)
            if outcome.refusesCredentials, !candidates.isEmpty { continue }
            if case .revoked = outcome { secrets.withLock { $0.prefer(candidate) } }
            return outcome
        }
        return .unsupported
    }

    /// As far as it can be found now: an assertion names it, also where it is shown elsewhere.
    private var tokenEndpoint: String {
        get async {
            if let places = trust.places, case .at(let url, _) = await places.find(.token) { return url }
            return facts.issuer.tokenEndpoint
        }
    }

    /// Takes over what other processes have found out; asked only where there are several secrets.
    private func learnOrder() async {
        guard let order, let first = await order.first() else { return }
        secrets.withLock { $0.follow(first, order.digest) }
    }

    package func takeProvenSecret() -> BlindIndex? {
        guard let order else { return nil }
        return secrets.withLock { $0.takeNews() }.map(order.digest)
    }

    private func revoke(_ request: ProviderRequest, _ addresses: AddressPolicy) async -> RevocationOutcome {
        guard let client = client() else { return .failed(ProviderStatement(status: 0), retryAfter: nil) }
        // Harmless: revoking a token twice is as good as once, so libcurl may send it again, unless it shows an
        // assertion: the second would be refused for that.
        let timeout = definition.facts.timeouts.total
        let wire = curlRequest(request, addresses, timeout: timeout, spends: request.isOneTime, fence: nil)
        switch await perform(client, wire) {
        case .answered(let answer):
            return revocations.read(ProviderAnswer(answer), sent: request.sent, now: timekeeper.now)
        case .unknown(let reason): return .failed(ProviderStatement(status: reason.status), retryAfter: nil)
        case .notSent: return .failed(ProviderStatement(status: 0), retryAfter: nil)
        }
    }

    package func profile(accessToken: SecretText, limit: Duration) async -> ProfileOutcome {
        let builder = secrets.withLock { $0.preferred }
        guard let places = trust.places else {
            return await profile(builder.userinfo(accessToken), .any, limit: limit)
        }
        let start = timekeeper.monotonic
        switch await places.find(.userinfo) {
        case .at(let url, let addresses):
            let left = limit - (timekeeper.monotonic - start)
            guard left > .zero else { return .failed(ProviderStatement(status: 0)) }
            return await profile(builder.userinfo(accessToken, at: url), addresses, limit: left)
        case .none: return await profile(nil, .any, limit: limit)
        case .unavailable: return .failed(ProviderStatement(status: 0))
        }
    }

    private func profile(_ request: ProviderRequest?, _ addresses: AddressPolicy, limit: Duration) async
        -> ProfileOutcome
    {
        guard let request else { return .notOffered }
        guard let client = client() else { return .failed(ProviderStatement(status: 0)) }
        switch await perform(client, curlRequest(request, addresses, timeout: limit, spends: false, fence: nil)) {
        case .answered(let answer): return await read(ProviderAnswer(answer), sent: request.sent)
        case .notSent, .unknown(.timeout), .unknown(.reset), .unknown(.closedWithoutAnswer),
            .unknown(.secondSendPrevented), .unknown(.protocolError), .unknown(.stopped):
            return .failed(ProviderStatement(status: 0))
        case .unknown(.cutOff(let answer)): return .failed(ProviderStatement(status: answer.status))
        case .unknown(.bodyTooLarge(let status)), .unknown(.undecodable(let status)):
            return .failed(ProviderStatement(status: status))
        }
    }

    /// A signed answer is first verified.
    private func read(_ answer: ProviderAnswer, sent: [SecretText]) async -> ProfileOutcome {
        guard let verify = trust.signedProfiles, let token = profiles.signedToken(of: answer) else {
            return profiles.read(answer, sent: sent)
        }
        switch await verify(token) {
        case .claims(let claims): return profiles.read(claims, status: answer.status, sent: sent)
        case .untrusted(let reason): return .untrusted(reason: reason)
        case .unavailable: return .failed(ProviderStatement(status: answer.status))
        }
    }

    /// Where a call goes that the issuer was asked for.
    private struct Target {
        let url: String
        let addresses: AddressPolicy
    }

    private func spend(
        _ request: ProviderRequest, at place: Target?, as call: TokenReader.Call, fence: (@Sendable () -> Bool)?
    ) async -> TokenOutcome {
        guard let client = client() else { return .notSent(.stopped) }
        let timeout = definition.facts.timeouts.answer
        let wire = curlRequest(request, place?.addresses ?? .any, timeout: timeout, spends: true, fence: fence)
        switch await perform(client, wire) {
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
        _ request: ProviderRequest, _ addresses: AddressPolicy, timeout: Duration, spends: Bool,
        fence: (@Sendable () -> Bool)?
    ) -> CurlRequest {
        CurlRequest(
            method: request.form.map(CurlMethod.postForm) ?? .get, url: request.url, headers: request.headers,
            connectTimeout: min(definition.facts.timeouts.connect, timeout), timeout: timeout, spends: spends,
            http2: definition.transport.http2, addresses: addresses, beforeFirstByte: fence)
    }
}
