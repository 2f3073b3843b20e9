// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents
import Testing

@Suite("What refresh --plan and --simulate print")
struct OutlookOutputTests {
    /// 2026-01-02T03:04:05Z.
    private static let now = Instant(milliseconds: 1_767_323_045_000)
    private static let acme = ProviderKey(name: "acme", environment: nil)
    private static let paypal = ProviderKey(name: "paypal", environment: "sandbox")
    private static let policies = [
        acme: RefreshPolicy(
            kind: .keepFresh, interval: .zero, reuse: .forbidden, idleLife: nil, defaultLifetime: .seconds(3600)),
        paypal: RefreshPolicy(
            kind: .keepAlive, interval: .seconds(30 * 86_400), reuse: .fixed, idleLife: nil,
            defaultLifetime: .seconds(3600)),
    ]

    private static func grant(_ number: Int, _ provider: ProviderKey, dueIn due: Int64?, endsIn end: Int64? = nil)
        throws -> PlannedGrant
    {
        PlannedGrant(
            id: try #require(ConsentID("cns_019378f0c0de7000a1b2c3d4e5f6071\(number)")), provider: provider,
            status: .active, generation: 1,
            timing: TokenTiming(
                issuedAt: now, accessTokenExpiresAt: now.advanced(by: .seconds(3600)),
                refreshTokenExpiresAt: end.map { now.advanced(by: .seconds($0)) },
                dueAt: due.map { now.advanced(by: .seconds($0)) }),
            isInDoubt: false)
    }

    private static func outlook() throws -> RefreshOutlook {
        var outlook = RefreshOutlook(at: now, policies: policies)
        outlook.add(try grant(1, paypal, dueIn: -60))
        outlook.add(try grant(2, paypal, dueIn: 7200, endsIn: 20 * 86_400))
        outlook.add(try grant(3, paypal, dueIn: 86_400 * 9, endsIn: 18 * 86_400))
        outlook.add(try grant(4, ProviderKey(name: "gone", environment: nil), dueIn: 0))
        return outlook
    }

    @Test("the plan tells each provider's hours, reasons, outages and unsafe interval")
    func plan() throws {
        #expect(
            OutlookOutput.plan(try Self.outlook(), json: false).text == """
                The plan at 2026-01-02T03:04:05Z. Nothing was sent.

                acme: keep_fresh; 0 grants

                gone: not in the configuration; 1 grant, never refreshed

                paypal (sandbox): keep_alive, every 30d; 3 grants
                  due now                              1
                  in the hour of 2026-01-02T05:00:00Z  1
                  later                                1
                  why: interval 1, refresh_token_end 2
                  an outage from now on would lose: 0 in 1h, 0 in 6h, 0 in 1d, 0 in 3d, 0 in 7d, 2 in 30d
                  warning: its interval of 30d is too long: a refresh token lives 18d, and is due at half of that; \
                give at most 9d

                An outage until their refresh token's end loses these first:
                  cns_019378f0c0de7000a1b2c3d4e5f60713  paypal (sandbox)  due 2026-01-11T03:04:05Z  \
                ends 2026-01-20T03:04:05Z
                  cns_019378f0c0de7000a1b2c3d4e5f60712  paypal (sandbox)  due 2026-01-02T05:04:05Z  \
                ends 2026-01-22T03:04:05Z

                """)
    }

    @Test("as JSON the plan has the same")
    func planJSON() throws {
        let text = OutlookOutput.plan(try Self.outlook(), json: true).text
        #expect(text.hasPrefix("{\n  \"at\": \"2026-01-02T03:04:05Z\",\n  \"providers\": ["))
        for part in [
            #""provider": "gone","#, #""due_now": 1,"#, #""hour": "2026-01-02T05:00:00Z","#, #""later": 1,"#,
            #""refresh_token_end": 2,"#, #""seconds": 2592000,"#, #""would_lose": 2"#,
            #""refresh_token_ends_at": "2026-01-20T03:04:05Z","#, #""told": true"#,
        ] { #expect(text.contains(part), "\(part)") }
    }

    private static func forecast() throws -> CallForecast {
        var forecast = CallForecast(
            from: now, minutes: 120, policies: policies,
            limits: [paypal: try #require(CallBudget(calls: 1, period: .seconds(60)))])
        for number in 1...3 { forecast.add(try grant(number, paypal, dueIn: 3600)) }
        forecast.add(try grant(4, ProviderKey(name: "gone", environment: nil), dueIn: 0))
        return forecast
    }

    @Test("the simulation is a table, against what background work may have of the limit")
    func simulation() throws {
        #expect(
            ForecastOutput.forecast(try Self.forecast(), chartPath: "out.svg", json: false).text == """
                The calls of 2h from 2026-01-02T03:04:05Z, if each refresh succeeds. Nothing was sent.

                acme: 0 grants, no rate limit
                  no calls

                paypal (sandbox): 3 grants, at most 0.8 a minute
                  3 calls, 1 in the busiest minute (2026-01-02T04:04:05Z); at most 2 wait for the limit
                  from                  calls  busiest minute  waiting
                  2026-01-02T03:04:05Z  0      0               0
                  2026-01-02T04:04:05Z  3      1               2

                1 grant of providers that are not in the configuration

                chart: out.svg

                """)
    }

    @Test("as JSON it has every minute")
    func simulationJSON() throws {
        let text = ForecastOutput.forecast(try Self.forecast(), chartPath: nil, json: true).text
        #expect(text.contains(#""busiest_minute": "2026-01-02T04:04:05Z","#))
        #expect(text.contains(#""busiest_minute": null,"#))
        #expect(text.contains(#""grants_without_provider": 1"#))
        #expect(text.contains(#""limit_per_minute": 0.8"#))
        let zeros = text.components(of: "\n        0,\n")
        #expect(zeros > 200)
    }

    @Test("the chart is a picture for light and dark, a panel a provider, with the limit")
    func chart() throws {
        let svg = ForecastChart.svg(try Self.forecast())
        #expect(svg.hasPrefix("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 960 444\" role=\"img\">\n"))
        #expect(svg.hasSuffix("</svg>\n"))
        #expect(svg.contains("@media (prefers-color-scheme:dark)"))
        #expect(svg.components(of: "<path class=\"c\"") == 2)
        #expect(svg.components(of: "<line class=\"l\"") == 1)
        #expect(svg.contains("3 calls, 1 in the busiest minute, at most 2 waiting</tspan>"))
        #expect(svg.components(of: "<g ") == svg.components(of: "</g>"))
    }
}

extension String {
    /// How often a text stands in it, overlaps of one byte included.
    fileprivate func components(of text: String) -> Int {
        let (bytes, wanted) = (Array(utf8), Array(text.utf8))
        return (0...max(0, bytes.count - wanted.count)).count { bytes[$0...].starts(with: wanted) }
    }
}
