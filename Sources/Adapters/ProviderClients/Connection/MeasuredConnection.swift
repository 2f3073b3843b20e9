// SPDX-License-Identifier: Apache-2.0
package import Consents
package import Observability

/// A provider whose every call is counted, timed and told in one log line, which never holds what was sent or came.
package final class MeasuredConnection: ProviderConnection {
    private let inner: any ProviderConnection
    private let time: any Timekeeper
    private let log: Log
    private let provider: String
    private let calls: [ProviderCall: CallSeries]

    /// The series of one kind of call.
    private struct CallSeries: Sendable {
        let duration: MetricTimer?
        let outcomes: [ProviderCallOutcome: MetricCounter]

        init(_ call: ProviderCall, of provider: String, in metrics: Metrics) {
            duration = metrics.timer(.providerCallDuration, [provider, call.rawValue])
            var outcomes: [ProviderCallOutcome: MetricCounter] = [:]
            for outcome in ProviderCallOutcome.allCases {
                outcomes[outcome] = metrics.counter(.providerCalls, [provider, call.rawValue, outcome.rawValue])
            }
            self.outcomes = outcomes
        }
    }

    package init(_ inner: any ProviderConnection, metrics: Metrics, time: any Timekeeper, log: Log) {
        self.inner = inner
        self.time = time
        self.log = log
        let provider = inner.facts.key.name
        self.provider = provider
        calls = Dictionary(
            uniqueKeysWithValues: ProviderCall.allCases.map { ($0, CallSeries($0, of: provider, in: metrics)) })
    }

    package var facts: ProviderFacts { inner.facts }
    package var identity: (any IdentityCheck)? { inner.identity }
    package var answeringIssuer: AnsweringIssuer { get async { await inner.answeringIssuer } }

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

    package func takeProvenSecret() -> BlindIndex? { inner.takeProvenSecret() }

    private func tell(_ call: ProviderCall, _ measured: MeasuredOutcome, _ heard: HeardStatus, since start: Duration) {
        let duration = time.monotonic - start
        let series = calls[call]
        series?.outcomes[measured.outcome]?.count()
        series?.duration?.observe(duration)
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
