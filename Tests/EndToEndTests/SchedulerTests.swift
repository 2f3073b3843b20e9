// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import ConsentUseCases
import Consents
import NativeHTTPServer
import NativeJSON
import NativeSystem
import RefreshSchedule
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("What is refreshed without anybody asking")
struct SchedulerTests {
    private static let policy = "    refresh: { policy: keep_alive, interval: 1h }"

    private func make(_ count: Int, at gateway: TestGateway) async throws -> [String] {
        var ids: [String] = []
        for number in 1...count {
            ids.append(try #require(try await gateway.post(code: "c-\(number)", subject: "u-\(number)").id))
        }
        return ids
    }

    private func generations(_ ids: [String], at gateway: TestGateway) async throws -> [Int64] {
        var found: [Int64] = []
        for id in ids {
            let consent = try await gateway.serving.gateway.store.consent(try #require(ConsentID(id)))
            #expect(consent?.record.status == .active)
            found.append(consent?.record.generation ?? 0)
        }
        return found
    }

    private func pass(_ gateway: TestGateway) async -> JobRun.Report {
        let place = gateway.serving.place
        let work = gateway.serving.gateway.backgroundWork(place) { true }
        return await LoopLauncher(loops: place.loops).result { await JobRun(work)() }
    }

    @Test("a gateway left alone keeps its grants for six lifetimes, each refreshed once in each")
    func lifetimes() async throws {
        let provider = try RotatingScript()
        defer { provider.script.provider.stop() }
        let url = provider.script.provider.url
        try await TestGateway.with(provider: url, providerSettings: Self.policy, refresh: "concurrency: 2") { gateway in
            let ids = try await make(3, at: gateway)
            for life in 1...6 {
                try AgedStore.ageTokens(in: gateway.folder, bySeconds: 3600)
                try await onOwnThread { blockUntil { provider.refreshes.count >= 3 * life } }
                try await settled(gateway)
            }
            #expect(try await generations(ids, at: gateway) == [7, 7, 7])
            #expect(provider.refreshes.count == 18)
            #expect(provider.refused == 0)
        }
    }

    /// Waits until nothing is on its way any more.
    private func settled(_ gateway: TestGateway) async throws {
        let end = MonotonicInstant.now().advanced(by: .seconds(20))
        while await gateway.serving.gateway.flightsUnderWay > 0, MonotonicInstant.now() < end { await Task.yield() }
    }

    @Test("two serving gateways and two jobs beside them refresh two hundred due grants once each")
    func sideBySide() async throws {
        let provider = try RotatingScript()
        defer { provider.script.provider.stop() }
        let url = provider.script.provider.url
        try await TestGateway.inFolder(
            provider: url, providerSettings: Self.policy, refresh: "concurrency: 8"
        ) { folder in
            try await TestGateway.living(in: folder) { first in
                let ids = try await make(200, at: first)
                try await TestGateway.living(in: folder) { second in
                    try AgedStore.ageTokens(in: folder, bySeconds: 3600)
                    async let one = pass(first)
                    async let other = pass(second)
                    let reports = await [one, other]
                    #expect(reports.allSatisfy { $0.left.isEmpty && $0.done.refreshes.failed == 0 })
                    try await onOwnThread { blockUntil { provider.refreshes.count >= 200 } }
                    try await settled(first)
                    try await settled(second)
                }
                #expect(try await generations(ids, at: first) == Array(repeating: 2, count: 200))
                #expect(provider.refreshes.count == 200)
                #expect(provider.refused == 0)
            }
        }
    }

    @Test("a gateway that drains begins no refresh any more and waits for those under way")
    func drain() async throws {
        let (underWay, isReleased) = (Locked(0), Locked(false))
        let provider = try RotatingScript { call, _, _ in
            guard call == .refresh else { return nil }
            underWay.withLock { $0 += 1 }
            blockUntil { isReleased.withLock { $0 } }
            return nil
        }
        defer { provider.script.provider.stop() }
        let url = provider.script.provider.url
        try await TestGateway.with(provider: url, providerSettings: Self.policy, refresh: "concurrency: 4") { gateway in
            let ids = try await make(20, at: gateway)
            try AgedStore.ageTokens(in: gateway.folder, bySeconds: 3600)
            try await onOwnThread { blockUntil { underWay.withLock { $0 } == 4 } }
            let draining = Task { await gateway.serving.drain() }
            // From when it takes no new connection it drains.
            try await onOwnThread { blockUntil { (try? RawConnection(port: gateway.serving.api.port)) == nil } }
            isReleased.withLock { $0 = true }
            await draining.value
            #expect(try await generations(ids, at: gateway).filter { $0 == 2 }.count == 4)
            #expect(provider.refreshes.count == 4)
        }
    }

    @Test("a provider that turns calls away is left alone as long as it says, then what waits goes out at its rate")
    func outage() async throws {
        // Five calls are turned away: those under way when the first is, of which there are four at most, and trials.
        let turnedAway = Locked<[MonotonicInstant]>([])
        let provider = try RotatingScript { call, _, _ in
            guard call == .refresh else { return nil }
            let isTurnedAway = turnedAway.withLock { times in
                guard times.count < 5 else { return false }
                times.append(.now())
                return true
            }
            return isTurnedAway ? .http(503, "", fields: ["Retry-After: 1"]) : nil
        }
        defer { provider.script.provider.stop() }
        let settings = Self.policy + "\n    rate_limit: 40/s"
        let url = provider.script.provider.url
        try await TestGateway.with(provider: url, providerSettings: settings, refresh: "concurrency: 4") { gateway in
            let ids = try await make(60, at: gateway)
            try AgedStore.ageTokens(in: gateway.folder, bySeconds: 3600)
            // Those that were turned away wait for a minute or two; where all is slow, one may have had its turn.
            try await onOwnThread { blockUntil { provider.refreshes.count >= 55 } }
            try await settled(gateway)
            let away = turnedAway.withLock { $0 }
            #expect(away.count == 5)
            // Nobody asks again before the second is over that the provider asked for.
            #expect(away[0].duration(to: away[4]) >= .milliseconds(990))
            let found = try await generations(ids, at: gateway)
            #expect(found.allSatisfy { $0 <= 2 })
            #expect(found.count { $0 == 2 } <= provider.refreshes.count)
            #expect(found.count { $0 == 2 } >= 55)
            let times = provider.refreshes
            #expect(
                times.allSatisfy { start in
                    times.count { $0 >= start && $0 < start.advanced(by: .seconds(1)) } <= 40
                })
        }
    }

    @Test("a profile that was not to be had is fetched later")
    func pendingProfile() async throws {
        let provider = try RotatingScript { call, number, _ in
            call == .userinfo && number == 1 ? .http(503, "") : nil
        }
        defer { provider.script.provider.stop() }
        let url = provider.script.provider.url
        try await TestGateway.with(provider: url, refresh: "enabled: true") { gateway in
            let made = try await gateway.post(code: "c-1", subject: "u-1")
            #expect(made.json["profile_status"]?.string == "pending")
            try await onOwnThread { blockUntil { provider.script.count(of: .userinfo) == 2 } }
            let id = try #require(made.id)
            let end = MonotonicInstant.now().advanced(by: .seconds(20))
            var status = ""
            while status != "current", MonotonicInstant.now() < end {
                status = try await gateway.record(id).json["profile_status"]?.string ?? ""
            }
            #expect(status == "current")
            #expect(provider.script.count(of: .userinfo) == 2)
        }
    }
}
