// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeSystem
import Observability
import TestSupport
import Testing

@testable import ProviderClients

@Suite("Calls to providers, counted and told")
struct MeasuredConnectionTests {
    private let sink = MemorySink()
    private let metrics = Metrics(MetricWords(routes: [], codes: [], providers: ["paypal"], version: "1"))
    private let parameters = ExchangeParameters(isSDKCode: true, redirectURI: nil, codeVerifier: SecretText("VERIFIER"))

    private func connection(_ outcome: TokenOutcome, _ profile: ProfileOutcome = .failed(ProviderStatement(status: 0)))
        -> MeasuredConnection
    {
        MeasuredConnection(
            ScriptedConnection(outcome: outcome, profile: profile), metrics: metrics, time: TickingTime(),
            log: Log(level: .debug, format: .text, sink: sink) { 0 })
    }

    private func exchange(_ outcome: TokenOutcome) async {
        guard let code = AuthorizationCode("THECODE") else {
            Issue.record("no code")
            return
        }
        _ = await connection(outcome).exchange(code, parameters)
    }

    @Test("a call is one line, with the request and the trace that it was made for")
    func line() async {
        let statement = ProviderStatement(status: 400, error: "access_denied", correlationID: "c-1")
        await LogContext.$current.withValue(LogContext(requestID: "r-1", traceID: "t-1")) {
            await exchange(.rejected(statement))
        }
        #expect(
            sink.lines == [
                "1970-01-01T00:00:00.000Z info provider call answered provider=paypal call=exchange outcome=rejected "
                    + "provider_status=400 provider_error=access_denied provider_correlation_id=c-1 duration_ms=250.0 "
                    + "request_id=r-1 trace_id=t-1"
            ])
    }

    @Test("neither what was sent nor what came is told, whatever comes")
    func secrets() async {
        let tokens = TokenSet(
            accessToken: SecretText("ACCESS"), tokenType: "Bearer", refreshToken: SecretText("REFRESH"),
            idToken: SecretText("IDTOKEN"))
        let granted = TokenAnswer(tokens: tokens, scopes: nil, expiresIn: 1, refreshTokenExpiresIn: nil)
        let outcomes: [TokenOutcome] = [
            .granted(granted), .unreadable(SecretText("BODY"), ProviderStatement(status: 200)),
            .unknown(.timeout, ProviderStatement(status: 0)), .notSent(.tls),
        ]
        for outcome in outcomes {
            await exchange(outcome)
            _ = await connection(outcome).refresh(SecretText("REFRESH")) { true }
        }
        let profile = Profile(claims: [.email: .text("ATTRIBUTE")])
        _ = await connection(.notSent(.tls), .fetched(profile)).profile(accessToken: SecretText("ACCESS"), limit: .zero)
        _ = await connection(.notSent(.tls)).revoke(SecretText("REFRESH"), kind: .refreshToken)
        let text = sink.text + (await MetricsPage(metrics, readings: []).text())
        for secret in ["THECODE", "VERIFIER", "ACCESS", "REFRESH", "IDTOKEN", "BODY", "ATTRIBUTE"] {
            #expect(!text.contains(secret))
        }
        #expect(sink.lines.count == 10)
        #expect(
            sink.text.contains(
                "warning provider call answered provider=paypal call=refresh outcome=not_sent reason=tls"))
    }

    @Test("calls are counted by provider, call and outcome, and timed")
    func counting() async {
        await exchange(.unknown(.reset, ProviderStatement(status: 0)))
        _ = await connection(.notSent(.fenced)).refresh(SecretText("r")) { true }
        let page = await MetricsPage(metrics, readings: []).text()
        for line in [
            #"consent_gateway_provider_calls_total{provider="paypal",call="exchange",outcome="unknown"} 1"#,
            #"consent_gateway_provider_calls_total{provider="paypal",call="refresh",outcome="not_sent"} 1"#,
            #"consent_gateway_provider_call_duration_seconds_sum{provider="paypal",call="exchange"} 0.25"#,
            #"consent_gateway_provider_call_duration_seconds_bucket{provider="paypal",call="exchange",le="0.1"} 0"#,
            #"consent_gateway_provider_call_duration_seconds_bucket{provider="paypal",call="exchange",le="0.25"} 1"#,
        ] {
            #expect(page.contains(line + "\n"))
        }
    }
}

private struct ScriptedConnection: ProviderConnection {
    let outcome: TokenOutcome
    let profile: ProfileOutcome

    var facts: ProviderFacts { Definitions.payPal().facts }
    var identity: (any IdentityCheck)? { nil }
    var answeringIssuer: AnsweringIssuer { .notConfigured }
    func exchange(_ code: consuming AuthorizationCode, _ parameters: ExchangeParameters) async -> TokenOutcome {
        _ = code.redeem()
        return outcome
    }
    func refresh(_ refreshToken: SecretText, fence: @escaping @Sendable () -> Bool) async -> TokenOutcome { outcome }
    func revoke(_ token: SecretText, kind: TokenKind) async -> RevocationOutcome { .revoked }
    func profile(accessToken: SecretText, limit: Duration) async -> ProfileOutcome { profile }
    func takeProvenSecret() -> BlindIndex? { nil }
}

/// Each look at the clock is a quarter of a second after the last.
private struct TickingTime: Timekeeper {
    private let ticks = Locked(0)

    var now: Instant { Instant(milliseconds: 0) }
    var monotonic: Duration {
        ticks.withLock { ticks in
            ticks += 1
            return .milliseconds(250 * ticks)
        }
    }
    var sinceBoot: Duration { monotonic }
    func sleep(until monotonic: Duration) async throws(CancellationError) {}
}
