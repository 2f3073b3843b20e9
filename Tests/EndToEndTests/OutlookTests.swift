// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents
import NativeJSON
import NativeSystem
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("Looking ahead, explaining, and trying once more")
struct OutlookTests {
    /// A command as the program runs it, on its loop.
    private func run(_ gateway: TestGateway, _ command: @escaping @Sendable () async -> CommandOutput) async
        -> CommandOutput
    {
        await LoopLauncher(loops: gateway.serving.place.loops).result(command)
    }

    private func force(_ id: ConsentID, at gateway: TestGateway) async -> CommandOutput {
        let serving = gateway.serving
        return await run(gateway) {
            await StoreCommands.refresh([id], isForced: true, serving.gateway, json: false)
        }
    }

    private func explain(_ id: ConsentID, at gateway: TestGateway) async -> String {
        let serving = gateway.serving
        return await run(gateway) {
            await RecordCommands(place: serving.place, gateway: serving.gateway, json: false).explain(id)
        }.text
    }

    @Test("a grant that is gone is tried once more on an operator's word: it stays gone, or lives again")
    func forced() async throws {
        let isMended = Locked(false)
        let script = try PayPalScript { call, _, _ in
            guard call == .refresh, !isMended.withLock({ $0 }) else { return nil }
            return .http(400, #"{"error":"invalid_grant"}"#)
        }
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let text = try #require(try await gateway.post(code: "c", subject: "u").id)
            let id = try #require(ConsentID(text))
            #expect(try await gateway.refresh(text).status == 409)
            #expect(try await gateway.refresh(text).status == 409)
            #expect(script.count(of: .refresh) == 1)
            let explained = await explain(id, at: gateway)
            #expect(explained.contains("The grant is gone (provider_rejected)"))
            #expect(explained.contains("To blame: the grant."))

            let again = await force(id, at: gateway)
            #expect(again.status == .partlyDone)
            #expect(again.text.contains("reauthorization_required"))
            #expect(script.count(of: .refresh) == 2)
            let types = try await gateway.events(text).map(\.draft.type)
            #expect(types.count { $0 == .reauthorizationRequired } == 1)
            #expect(types.last == .refreshFailed)

            isMended.withLock { $0 = true }
            let healed = await force(id, at: gateway)
            #expect(healed.status == .done)
            #expect(script.count(of: .refresh) == 3)
            #expect(try await gateway.record(text).json["status"]?.string == "active")
            #expect(await explain(id, at: gateway).contains("What stands in its way\n  Nothing.\n"))
        }
    }

    @Test("the plan and the simulation count what the store holds, and send nothing")
    func ahead() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        let often = "    refresh: { policy: keep_fresh }"
        try await TestGateway.with(provider: script.provider.url, providerSettings: often) { gateway in
            for number in 1...3 { _ = try await gateway.post(code: "c-\(number)", subject: "u-\(number)") }
            let serving = gateway.serving
            let command = OutlookCommands(place: serving.place, gateway: serving.gateway, json: false)
            let plan = await run(gateway) { await command.plan(of: nil) }
            #expect(plan.status == .done)
            #expect(plan.text.contains("\npaypal (sandbox): keep_fresh; 3 grants\n"), "\(plan.text)")
            #expect(plan.text.contains("  why: access_token_end 3\n"))
            let folder = try makeTemporaryFolder(prefix: "consent-gateway-chart-", in: "/tmp")
            defer { removeFolder(at: folder) }
            let path = folder + "/calls.svg"
            let request = ForecastRequest(minutes: 1440, provider: "paypal", chartPath: path)
            let forecast = await run(gateway) { await command.forecast(request) }
            // 28,800 s of life less a margin of 300 s and a jitter of up to 2,880 s: three times a day.
            #expect(forecast.text.contains("\n  9 calls, "), "\(forecast.text)")
            let chart = try readFile(at: path, limit: 1 << 20).bytes
            #expect(String(decoding: chart, as: UTF8.self).hasPrefix("<svg xmlns"))
            let unknown = await run(gateway) { await command.plan(of: "paypla") }
            #expect(
                unknown.errors
                    == "consent-gateway: there is no provider 'paypla' in the configuration; it has paypal\n")
            #expect(unknown.status == .usage)
            #expect(script.count(of: .refresh) == 0)
        }
    }
}
