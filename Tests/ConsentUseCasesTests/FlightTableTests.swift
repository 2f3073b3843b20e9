// SPDX-License-Identifier: Apache-2.0
import ConsentUseCases
import Consents
import Testing

/// The runtime's own clock and tasks.
private struct RunningTime: Timekeeper, TaskLauncher {
    private let start = ContinuousClock.now

    var now: Instant { Instant(milliseconds: 0) }
    var monotonic: Duration { ContinuousClock.now - start }
    var sinceBoot: Duration { monotonic }
    func sleep(until monotonic: Duration) async throws(CancellationError) {
        do { try await Task.sleep(until: start + monotonic, clock: .continuous) } catch { throw CancellationError() }
    }
    func launch(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> { Task { await work() } }
}

@Suite("Who waits for a flight")
struct FlightTableTests {
    private let time = RunningTime()
    private let table: FlightTable<Int, String>
    private let landing: AsyncStream<Void>
    private let control: AsyncStream<Void>.Continuation

    init() {
        table = FlightTable(time: time, launcher: time)
        (landing, control) = AsyncStream.makeStream(of: Void.self)
    }

    private func share(_ key: Int, within limit: Duration) async -> String? {
        await table.share(key, owner: nil, until: time.monotonic + limit) { [landing] in
            for await _ in landing {}
            return "landed \(key)"
        }.outcome
    }

    @Test("is told nothing when the own deadline comes, whoever else waits longer or shorter")
    func deadlines() async {
        async let patient = share(1, within: .seconds(600))
        // Later ones with earlier deadlines, and one that comes after the alarm has rung.
        async let first = share(1, within: .milliseconds(30))
        async let second = share(2, within: .milliseconds(15))
        #expect(await second == nil)
        #expect(await first == nil)
        #expect(await share(2, within: .milliseconds(5)) == nil)
        #expect(await share(3, within: .zero) == nil)
        #expect(table.count == 3)
        control.finish()
        #expect(await patient == "landed 1")
    }

    @Test("shares one outcome with everybody who waits, and the next one works anew")
    func outcomes() async {
        async let leader = share(7, within: .seconds(600))
        async let other = share(7, within: .seconds(500))
        control.finish()
        #expect(await leader == "landed 7")
        #expect(await other == "landed 7")
        #expect(await share(7, within: .seconds(600)) == "landed 7")
        #expect(table.count == 0)
    }
}
