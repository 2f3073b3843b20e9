// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeSystem
import Observability

@testable import ConsentStores

/// How long it takes to find what is due in a store, and to claim it: on the gateway's own store, from within.
///
/// Finds and claims so many grants of one provider, gives the claims back, and again; prints a line of JSON with each
/// round's milliseconds.
struct DueClaims {
    private let store: SQLStore
    private let provider: ProviderKey
    private let count: Int
    private let time = BenchTime()
    private static let policy = RefreshPolicy(
        kind: .keepFresh, interval: .seconds(86_400), reuse: .forbidden, idleLife: nil,
        defaultLifetime: .seconds(3600))

    init(_ options: [String: String]) throws {
        guard let path = options["store"], let name = options["provider"] else { throw UsageError() }
        provider = ProviderKey(name: name, environment: options["environment"])
        count = Int(options["count"] ?? "100") ?? 100
        let instance = InstanceID(BenchTime.identifier())
        let metrics = Metrics(MetricWords(routes: [], codes: [], providers: [name], version: ""))
        store = try SQLStore.open(
            .file(path), stateDirectory: folder(of: path), instance: instance, ledger: NoLedger(),
            migrations: .manual, limits: .standard, metrics: metrics, time: time,
            telling: StoreClock(), at: time.now)
    }

    func run(rounds: Int) async throws {
        var (finding, claiming, found) = ([Double](), [Double](), 0)
        for _ in 0..<rounds {
            let begun = time.monotonic
            let due = try await store.dueRefreshes(of: provider, policy: DueClaims.policy, at: time.now, limit: count)
            let seen = time.monotonic
            let claims = due.map {
                RefreshClaim(
                    id: $0.id, generation: $0.generation, attempt: AttemptID(BenchTime.identifier()), judged: nil,
                    at: time.now, lease: .seconds(120))
            }
            let held = try await claimAll(claims)
            finding.append(BenchTime.milliseconds(seen - begun))
            claiming.append(BenchTime.milliseconds(time.monotonic - seen))
            guard held == claims.count else { throw UsageError() }
            found = held
            for claim in claims { try await release(claim) }
        }
        let lists = [finding, claiming].map { "[" + $0.map { "\($0)" }.joined(separator: ",") + "]" }
        OutputStream.standardOutput.write("{\"found\":\(found),\"finding\":\(lists[0]),\"claiming\":\(lists[1])}\n")
    }

    private func claimAll(_ claims: [RefreshClaim]) async throws -> Int {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for claim in claims { group.addTask { try await store.claimRefresh(claim) == .claimed } }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
    }

    private func release(_ claim: RefreshClaim) async throws {
        _ = try await store.settleRefresh(
            RefreshSettlement(
                id: claim.id, generation: claim.generation, attempt: claim.attempt, change: .released, at: time.now,
                events: []))
    }
}

/// Claims write no events.
private struct NoLedger: Ledger {
    func mac(previous: [UInt8], event: [UInt8]) -> [UInt8] { [UInt8](repeating: 0, count: 32) }
}

/// The machine's clocks.
struct BenchTime: Timekeeper {
    var now: Instant { Instant(milliseconds: wallClockMilliseconds()) }
    var monotonic: Duration { MonotonicInstant(nanoseconds: 0).duration(to: .now()) }
    var sinceBoot: Duration { timeSinceBoot() }
    func sleep(until monotonic: Duration) async throws(CancellationError) {}

    static func identifier() -> UUIDv7 {
        UUIDv7(
            milliseconds: UInt64(wallClockMilliseconds()),
            random: (UInt64.random(in: 0...(.max)), UInt64.random(in: 0...(.max))))
    }

    static func milliseconds(_ duration: Duration) -> Double {
        let parts = duration.components
        return Double(parts.seconds) * 1e3 + Double(parts.attoseconds) / 1e15
    }
}
