// SPDX-License-Identifier: Apache-2.0
import NativePostgres
import Testing

@Suite("The pool of connections, without a connection")
struct PoolMachineTests {
    private typealias Row = (event: PoolMachine.Event, action: PoolMachine.Action)

    private static let rules = PoolRules(size: 2, firstPause: .seconds(1), longestPause: .seconds(5))

    /// Plays the table, an event a row, and holds what follows against it.
    private func play(_ table: [Row]) -> PoolMachine {
        var pool = PoolMachine(Self.rules)
        for (number, row) in table.enumerated() { #expect(pool.on(row.event) == row.action, "row \(number)") }
        return pool
    }

    @Test("each that is open works until it is lost, and is opened again after a pause")
    func life() {
        let pool = play([
            (.opened(slot: 0), .work), (.opened(slot: 1), .work),
            (.lost(slot: 0, jitter: 1), .pause(.seconds(1), refusesLine: false)),
            (.paused(slot: 0), .open), (.opened(slot: 0), .work),
        ])
        #expect(pool.standing == 2)
    }

    @Test("while one stands, those that cannot be opened refuse nobody, and wait longer each time")
    func oneStands() {
        let pool = play([
            (.opened(slot: 0), .work), (.opened(slot: 1), .work),
            (.lost(slot: 0, jitter: 1), .pause(.seconds(1), refusesLine: false)), (.paused(slot: 0), .open),
            (.failedToOpen(slot: 0, jitter: 1), .pause(.seconds(1), refusesLine: false)), (.paused(slot: 0), .open),
            (.failedToOpen(slot: 0, jitter: 1), .pause(.seconds(2), refusesLine: false)), (.paused(slot: 0), .open),
            (.failedToOpen(slot: 0, jitter: 1), .pause(.seconds(4), refusesLine: false)), (.paused(slot: 0), .open),
            (.failedToOpen(slot: 0, jitter: 0), .pause(.milliseconds(2500), refusesLine: false)),
            (.paused(slot: 0), .open), (.opened(slot: 0), .work),
            (.lost(slot: 0, jitter: 1), .pause(.seconds(1), refusesLine: false)),
        ])
        #expect(pool.standing == 1)
    }

    @Test("once the last is lost and cannot be had, whoever waits is told at each failure")
    func down() {
        let pool = play([
            (.opened(slot: 0), .work), (.opened(slot: 1), .work),
            (.lost(slot: 0, jitter: 0), .pause(.milliseconds(500), refusesLine: false)),
            (.lost(slot: 1, jitter: 0), .pause(.milliseconds(500), refusesLine: false)),
            (.paused(slot: 0), .open),
            // The other one has not been tried yet.
            (.failedToOpen(slot: 0, jitter: 0), .pause(.milliseconds(500), refusesLine: false)),
            (.paused(slot: 1), .open),
            (.failedToOpen(slot: 1, jitter: 0), .pause(.milliseconds(500), refusesLine: true)),
            (.paused(slot: 0), .open),
            (.failedToOpen(slot: 0, jitter: 0), .pause(.seconds(1), refusesLine: true)),
            (.paused(slot: 1), .open), (.opened(slot: 1), .work), (.paused(slot: 0), .open),
            (.failedToOpen(slot: 0, jitter: 0), .pause(.seconds(2), refusesLine: false)),
        ])
        #expect(pool.standing == 1)
    }

    @Test("one whose thread has ended is waited for by nobody")
    func ended() {
        let pool = play([
            (.opened(slot: 0), .work), (.opened(slot: 1), .work), (.ended(slot: 1), .end),
            (.lost(slot: 0, jitter: 0), .pause(.milliseconds(500), refusesLine: false)), (.paused(slot: 0), .open),
            (.failedToOpen(slot: 0, jitter: 0), .pause(.milliseconds(500), refusesLine: true)),
            (.ended(slot: 0), .end),
        ])
        #expect(pool.standing == 0)
    }

    @Test("a jitter that is none does no harm", arguments: [-1, 2, Double.nan])
    func jitter(_ jitter: Double) {
        var pool = PoolMachine(Self.rules)
        guard case .pause(let time, _) = pool.on(.failedToOpen(slot: 0, jitter: jitter)) else {
            Issue.record("no pause")
            return
        }
        #expect(time >= .milliseconds(500))
        #expect(time <= .seconds(1))
    }
}
