// SPDX-License-Identifier: Apache-2.0
import NativePostgres
import Testing

@Suite("The pool of connections, without a connection")
struct PoolMachineTests {
    private typealias Row = (at: Int, event: PoolMachine.Event, actions: [PoolMachine.Action])

    private static func rules(size: Int = 2, waiting: Int = 2) -> PoolRules {
        PoolRules(
            size: size, waiting: waiting, patience: .seconds(10), firstPause: .seconds(1), longestPause: .seconds(5))
    }

    /// Plays the table, an event a row, and holds the actions against it.
    private func play(_ table: [Row], _ rules: PoolRules = rules()) -> PoolMachine {
        var pool = PoolMachine(rules)
        for (number, row) in table.enumerated() {
            #expect(pool.on(row.event, at: .seconds(row.at)) == row.actions, "row \(number)")
        }
        return pool
    }

    @Test("who comes first is lent the connection given back last, others wait in line for the next")
    func lending() {
        let pool = play([
            (0, .started, [.open(slot: 0), .open(slot: 1)]),
            (0, .asked(1), []),
            (1, .opened(slot: 1), [.lend(slot: 1, to: 1)]),
            (1, .opened(slot: 0), []),
            (2, .asked(2), [.lend(slot: 0, to: 2)]),
            (2, .gaveBack(slot: 0, isUsable: true), []),
            (2, .gaveBack(slot: 1, isUsable: true), []),
            (3, .asked(3), [.lend(slot: 1, to: 3)]),
            (3, .asked(4), [.lend(slot: 0, to: 4)]),
            (3, .asked(5), []),
            (3, .asked(6), []),
            (4, .gaveBack(slot: 0, isUsable: true), [.lend(slot: 0, to: 5)]),
            (4, .gaveBack(slot: 1, isUsable: true), [.lend(slot: 1, to: 6)]),
        ])
        #expect(pool.load.lent == 2)
        #expect(pool.load.waiting == 0)
        #expect(pool.wake == nil)
    }

    @Test("no more wait than may, none longer than it may, and who withdraws leaves the line")
    func waiting() {
        let pool = play([
            (0, .started, [.open(slot: 0), .open(slot: 1)]),
            (0, .asked(1), []),
            (3, .asked(2), []),
            (4, .asked(3), [.refuse(3, .tooManyWait)]),
            (5, .withdrew(1), []),
            (5, .asked(4), []),
            (12, .ticked, []),
            (13, .ticked, [.refuse(2, .patienceIsOver)]),
            (14, .opened(slot: 0), [.lend(slot: 0, to: 4)]),
            (15, .ticked, []),
        ])
        #expect(pool.load.waiting == 0)
    }

    @Test("a connection lost in use or while idle is closed and opened again; what is told too late does nothing")
    func losing() {
        _ = play([
            (0, .started, [.open(slot: 0), .open(slot: 1)]),
            (0, .opened(slot: 0), []),
            (0, .opened(slot: 1), []),
            (1, .asked(1), [.lend(slot: 1, to: 1)]),
            (2, .gaveBack(slot: 1, isUsable: false), [.close(slot: 1)]),
            (2, .gaveBack(slot: 1, isUsable: true), []),
            (2, .died(slot: 0), [.close(slot: 0)]),
            (2, .died(slot: 0), []),
            (3, .asked(2), []),
            (3, .closed(slot: 0), [.open(slot: 0)]),
            (3, .closed(slot: 1), [.open(slot: 1)]),
            (4, .opened(slot: 0), [.lend(slot: 0, to: 2)]),
            (4, .failedToOpen(slot: 0, jitter: 0), []),
        ])
    }

    @Test("while the server is down who waits is told at once, and the pauses between tries grow to their bound")
    func backingOff() {
        var pool = play(
            [
                (0, .started, [.open(slot: 0)]),
                (0, .asked(1), []),
                (1, .failedToOpen(slot: 0, jitter: 1), [.refuse(1, .serverIsDown)]),
                (1, .asked(2), [.refuse(2, .serverIsDown)]),
                (2, .ticked, [.open(slot: 0)]),
                (2, .asked(3), [.refuse(3, .serverIsDown)]),
                (3, .failedToOpen(slot: 0, jitter: 1), []),
                (4, .ticked, []),
                (5, .ticked, [.open(slot: 0)]),
                (6, .failedToOpen(slot: 0, jitter: 1), []),
                (10, .ticked, [.open(slot: 0)]),
                (11, .failedToOpen(slot: 0, jitter: 1), []),
                (15, .ticked, []),
                (16, .ticked, [.open(slot: 0)]),
                (17, .opened(slot: 0), []),
                (17, .asked(4), [.lend(slot: 0, to: 4)]),
                (18, .gaveBack(slot: 0, isUsable: false), [.close(slot: 0)]),
                (18, .asked(5), []),
                (18, .closed(slot: 0), [.open(slot: 0)]),
                (19, .failedToOpen(slot: 0, jitter: 0), [.refuse(5, .serverIsDown)]),
            ], Self.rules(size: 1))
        #expect(pool.wake == .seconds(19) + .milliseconds(500))
        #expect(pool.on(.ticked, at: .seconds(20)) == [.open(slot: 0)])
    }

    @Test("one connection is enough to wait for, though the server lets no second one in")
    func half() {
        let pool = play([
            (0, .started, [.open(slot: 0), .open(slot: 1)]),
            (0, .opened(slot: 0), []),
            (0, .asked(1), [.lend(slot: 0, to: 1)]),
            (0, .asked(2), []),
            (0, .failedToOpen(slot: 1, jitter: 0), []),
            (0, .gaveBack(slot: 0, isUsable: true), [.lend(slot: 0, to: 2)]),
        ])
        #expect(pool.isConnected)
    }

    @Test("at the end who waits is refused, and the last connection to be closed ends it, once")
    func stopping() {
        _ = play(
            [
                (0, .started, [.open(slot: 0), .open(slot: 1), .open(slot: 2), .open(slot: 3)]),
                (0, .opened(slot: 0), []),
                (0, .opened(slot: 1), []),
                (0, .failedToOpen(slot: 3, jitter: 0), []),
                (0, .asked(1), [.lend(slot: 1, to: 1)]),
                (0, .asked(2), [.lend(slot: 0, to: 2)]),
                (0, .asked(3), []),
                (0, .gaveBack(slot: 0, isUsable: true), [.lend(slot: 0, to: 3)]),
                (0, .asked(4), []),
                (0, .gaveBack(slot: 0, isUsable: true), [.lend(slot: 0, to: 4)]),
                (0, .gaveBack(slot: 0, isUsable: true), []),
                (0, .asked(5), [.lend(slot: 0, to: 5)]),
                (0, .asked(6), []),
                (1, .stopped, [.refuse(6, .isStopping)]),
                (1, .stopped, []),
                (1, .asked(7), [.refuse(7, .isStopping)]),
                (1, .gaveBack(slot: 0, isUsable: true), [.close(slot: 0)]),
                (1, .opened(slot: 2), [.close(slot: 2)]),
                (1, .closed(slot: 2), []),
                (1, .closed(slot: 0), []),
                (1, .gaveBack(slot: 1, isUsable: false), [.close(slot: 1)]),
                (1, .closed(slot: 1), [.end]),
                (9, .ticked, []),
            ], Self.rules(size: 4))
    }

    @Test("a pool without a connection ends as soon as its last try has failed")
    func stoppingEmpty() {
        _ = play(
            [
                (0, .started, [.open(slot: 0)]), (0, .stopped, []),
                (1, .failedToOpen(slot: 0, jitter: 0), [.end]), (2, .ticked, []),
            ], Self.rules(size: 1))
        _ = play([(0, .stopped, [.end])], Self.rules(size: 1))
    }
}
