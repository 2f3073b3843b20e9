// SPDX-License-Identifier: Apache-2.0
package import Consents
package import Observability

/// A provider whose every call is counted, timed and told in one log line, which never holds what was sent or came.
package final class MeasuredConnection: ProviderConnection {
    private let inner: any ProviderConnection
    private let metrics: Metrics
    private let time: any Timekeeper
    private let log: Log

    package init(_ inner: any ProviderConnection, metrics: Metrics, time: any Timekeeper, log: Log) {
        self.inner = inner
        self.metrics = metrics
        self.time = time
        self.log = log
    }

    package var facts: ProviderFacts { inner.facts }

    package func exchange(_ code: consuming AuthorizationCode, _ parameters: ExchangeParameters) async -> TokenOutcome {
        let start = time.monotonic
        let heard = HeardStatus()
        // A closure cannot say that it runs once: what it spends is taken out of a slot.
        var slot: AuthorizationCode? = code
        let outcome: TokenOutcome = await HeardStatus.$current.withValue(heard) {
            guard let code = slot.take() else { return .notSent(.stopped) }
            return await inner.exchange(code, parameters)
        }
        tell(.exchange, outcome.measured, heard, since: start)
        return outcome
    }

    package func refresh(
        _ refreshToken: SecretText, fence: @escaping @Sendable () -> Bool
    ) async -> TokenOutcome {
        let start = time.monotonic
        let heard = HeardStatus()
        let outcome = await HeardStatus.$current.withValue(heard) { await inner.refresh(refreshToken, fence: fence) }
        tell(.refresh, outcome.measured, heard, since: start)
        return outcome
    }

    package func revoke(_ token: SecretText, kind: TokenKind) async -> RevocationOutcome {
        let start = time.monotonic
        let heard = HeardStatus()
        let outcome = await HeardStatus.$current.withValue(heard) { await inner.revoke(token, kind: kind) }
        tell(.revoke, outcome.measured, heard, since: start)
        return outcome
    }

    package func profile(accessToken: SecretText, limit: Duration) async -> ProfileOutcome {
        let start = time.monotonic
        let heard = HeardStatus()
        let outcome = await HeardStatus.$current.withValue(heard) {
            await inner.profile(accessToken: accessToken, limit: limit)
        }
        tell(.userinfo, outcome.measured, heard, since: start)
        return outcome
    }

    private func tell(_ call: ProviderCall, _ measured: MeasuredOutcome, _ heard: HeardStatus, since start: Duration) {
        let duration = time.monotonic - start
        let provider = facts.key.name
        metrics.count(.providerCalls, [provider, call.rawValue, measured.outcome.rawValue])
        metrics.observe(duration, in: .providerCallDuration, [provider, call.rawValue])
        log.write(measured.outcome.isOrdinary ? .info : .warning, "provider call answered") {
            [
                Fact(.provider, provider), Fact(.call, call.rawValue), Fact(.outcome, measured.outcome.rawValue),
                Fact(.reason, measured.reason), Fact(.providerStatus, measured.status ?? heard.status),
                Fact(.providerError, measured.statement?.error),
                Fact(.providerCorrelationID, measured.statement?.correlationID),
                Fact(.durationMilliseconds, duration),
            ]
        }
    }
}
