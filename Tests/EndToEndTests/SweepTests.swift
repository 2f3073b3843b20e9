// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents
import NativeSystem
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("Refreshing many grants")
struct SweepTests {
    /// What the provider's scripted calls leave behind.
    private struct Calls {
        var underWay = 0
        var most = 0
        /// Whether refreshes are answered.
        var isReleased = false
    }

    private func make(_ count: Int, at gateway: TestGateway) async throws -> [String] {
        var ids: [String] = []
        for number in 1...count {
            ids.append(try #require(try await gateway.post(code: "c-\(number)", subject: "u-\(number)").id))
        }
        return ids
    }

    private func run(
        _ sweep: RefreshSweep, of subject: String? = nil, at gateway: TestGateway,
        isInterrupted: @escaping @Sendable () -> Bool = { false }
    ) async -> CommandOutput {
        let place = gateway.serving.place
        let command = SweepCommand(place: place, gateway: gateway.serving.gateway, sweep: sweep, json: false)
        return await LoopLauncher(loops: place.loops).result {
            await command.run(of: subject.flatMap { Subject($0) }, terminal: nil, isInterrupted: isInterrupted)
        }
    }

    private func lines(_ output: CommandOutput) -> [String] { output.text.split(separator: "\n").map(String.init) }

    /// A provider whose seventh grant is dead, and that answers no refresh before it is told to.
    private static func script(_ calls: Locked<Calls>) throws -> PayPalScript {
        try PayPalScript { call, number, request in
            if call == .exchange, number == 7 {
                return .http(200, PayPalScript.tokens(number, refreshToken: "R-dead-canary"))
            }
            guard call == .refresh else { return nil }
            calls.withLock { calls in
                calls.underWay += 1
                calls.most = max(calls.most, calls.underWay)
            }
            blockUntil { calls.withLock { $0.isReleased } }
            calls.withLock { $0.underWay -= 1 }
            return request.body.contains("R-dead-canary") ? .http(400, #"{"error":"invalid_grant"}"#) : nil
        }
    }

    @Test("thirty grants are refreshed four at a time; the dead one is named, and the status says so")
    func thirty() async throws {
        let calls = Locked(Calls())
        let script = try Self.script(calls)
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let ids = try await make(30, at: gateway)
            async let sweeping = run(RefreshSweep(.all, concurrency: 4), at: gateway)
            try await onOwnThread { blockUntil { calls.withLock { $0.most } >= 4 } }
            // A fifth would be on its way before these are answered: they go through the same loop.
            for _ in 0..<20 { _ = try await gateway.record(ids[0]) }
            calls.withLock { $0.isReleased = true }
            let output = await sweeping
            let lines = lines(output)
            #expect(lines.count == 31)
            #expect(lines.prefix(30).map { String($0.prefix(36)) } == ids.reversed())
            let dead = lines.filter { $0.contains("reauthorization_required") }
            #expect(
                dead.first == "\(ids[6])  reauthorization_required: the grant is gone (provider_rejected); the person "
                    + "must consent again")
            #expect(lines.last == "30 consents: 29 refreshed, 1 reauthorization_required")
            #expect(output.status == .partlyDone)
            #expect(output.errors.isEmpty)
            #expect(calls.withLock { $0.most } == 4)
            #expect(script.count(of: .refresh) == 30)
            // The dead one is not among those that can be refreshed any more.
            let again = await run(RefreshSweep(.all, concurrency: 30), at: gateway)
            #expect(again.text.hasSuffix("\n29 consents: 29 refreshed\n"))
            #expect(again.status == .done)
        }
    }

    @Test("a dry run lists those that fit, and sends nothing")
    func dryRun() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let ids = try await make(30, at: gateway)
            let all = await run(RefreshSweep(.all, isDryRun: true), at: gateway)
            #expect(lines(all).prefix(30).map { String($0.prefix(36)) } == ids.reversed())
            #expect(all.text.hasSuffix("\n30 consents would be refreshed; nothing was sent\n"))
            #expect(all.status == .done)
            let some = await run(RefreshSweep(.all, limit: 3, isDryRun: true), at: gateway)
            #expect(lines(some).prefix(3).map { String($0.prefix(36)) } == ids.suffix(3).reversed())
            #expect(some.text.hasSuffix("\n3 consents would be refreshed; nothing was sent\n"))
            let one = await run(RefreshSweep(.all, provider: "paypal", isDryRun: true), of: "u-5", at: gateway)
            #expect(lines(one).map { String($0.prefix(36)) } == [ids[4], "1 consent would be refreshed; nothin"])
            let none = await run(RefreshSweep(.due, isDryRun: true), at: gateway)
            #expect(none.text == "0 consents would be refreshed; nothing was sent\n")
            let unknown = await run(RefreshSweep(.all, provider: "paypla", isDryRun: true), at: gateway)
            #expect(
                unknown.errors
                    == "consent-gateway: there is no provider 'paypla' in the configuration; it has paypal\n")
            #expect(unknown.status == .usage)
            #expect(script.count(of: .refresh) == 0)
        }
    }

    @Test("those that are due are refreshed, begun no faster than the rate and no more than the limit")
    func due() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        let often = "    refresh: { policy: keep_alive, interval: 1ms }"
        try await TestGateway.with(provider: script.provider.url, providerSettings: often) { gateway in
            _ = try await make(6, at: gateway)
            let begun = MonotonicInstant.now()
            let output = await run(RefreshSweep(.due, limit: 5, startsPerSecond: 20), at: gateway)
            // Four spaces of 50 ms between five starts.
            #expect(MonotonicInstant.now() >= begun.advanced(by: .milliseconds(200)))
            #expect(output.text.hasSuffix("\n5 consents: 5 refreshed\n"))
            #expect(output.status == .done)
            #expect(script.count(of: .refresh) == 5)
        }
    }

    @Test("an interrupted sweep lets those under way come to their end and begins no other")
    func interrupted() async throws {
        let isInterrupted = Locked(false)
        let script = try PayPalScript { call, _, _ in
            if call == .refresh { isInterrupted.withLock { $0 = true } }
            return nil
        }
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            _ = try await make(5, at: gateway)
            let output = await run(RefreshSweep(.all, concurrency: 1), at: gateway) { isInterrupted.withLock { $0 } }
            #expect(output.text.hasSuffix("  refreshed, next \(nextRefresh(output))\n1 consent: 1 refreshed\n"))
            #expect(
                output.errors
                    == "consent-gateway: interrupted: the consents that are not listed were not begun\n")
            #expect(output.status == .interrupted)
            #expect(script.count(of: .refresh) == 1)
        }
    }

    private func nextRefresh(_ output: CommandOutput) -> String {
        output.text.prefix { $0 != "\n" }.split(separator: " ").last.map(String.init) ?? ""
    }
}
