// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativePostgres
internal import NativeSystem

/// What works on a connection to a server, on the thread that has it.
protocol ServerWork: ~Copyable {
    /// Works until nothing more will come.
    /// - Returns: false once the connection is lost.
    mutating func work(on connection: borrowing SQLConnection) -> Bool

    /// No connection could be opened. What of its own it cannot let wait any longer it refuses.
    /// - Parameter refusesLine: whether also what waits for any connection is to be refused.
    mutating func fail(_ failure: StoreFailure, refusesLine: Bool)

    /// Nothing more will come, and nothing is left to be done.
    var isOver: Bool { get }

    /// Returns after that time, or sooner once nothing more will come.
    func pause(for time: Duration)
}

/// A number of connections to a server, each on the thread that has opened it. What is decided of them the machine
/// decides; here it is done.
final class ServerPool: Sendable {
    private let server: PostgresServer
    private let clock: BootClock
    private let state: Locked<State>

    private struct State {
        var machine: PoolMachine
        var newcomers = 0
        /// Goes on with each jitter.
        var spread: UInt64
    }

    /// - Parameter spread: random, so that instances do not connect in step.
    init(_ server: PostgresServer, _ clock: BootClock, size: Int, spread: UInt64) {
        self.server = server
        self.clock = clock
        state = Locked(
            State(
                machine: PoolMachine(
                    PoolRules(size: size, firstPause: .milliseconds(50), longestPause: .seconds(1))),
                spread: spread))
    }

    /// Another thread's number, from 0; as many as the pool is large.
    func newcomer() -> Int {
        state.withLock { state in
            defer { state.newcomers += 1 }
            return state.newcomers
        }
    }

    /// Opens the thread's connection, and again where it is lost, until the work is over.
    /// - Parameter report: called once the first one is open.
    /// - Throws: why the first one could not be opened.
    func run(_ work: inout some ServerWork & ~Copyable, as slot: Int, _ report: () -> Void) throws(SQLError) {
        defer { _ = tell { _ in .ended(slot: slot) } }
        var link: PostgresLink? = try PostgresLink(server, clock)
        report()
        var next = tell { _ in .opened(slot: slot) }
        while true {
            switch next {
            case .work:
                guard let opened = link else { return }
                link = nil
                if work.work(on: .postgres(opened)) { return }
                next = tell { .lost(slot: slot, jitter: $0) }
            case .pause(let time, _):
                work.pause(for: time)
                if work.isOver { return }
                next = tell { _ in .paused(slot: slot) }
            case .open:
                do throws(SQLError) {
                    link = try PostgresLink(server, clock)
                    next = tell { _ in .opened(slot: slot) }
                } catch {
                    next = tell { .failedToOpen(slot: slot, jitter: $0) }
                    if case .pause(_, let refusesLine) = next {
                        work.fail(StoreFailure(error), refusesLine: refusesLine)
                    }
                }
            case .end: return
            }
        }
    }

    private func tell(_ event: (_ jitter: Double) -> PoolMachine.Event) -> PoolMachine.Action {
        state.withLock { state in
            // Knuth's; what matters is that two instances are not in step.
            state.spread = state.spread &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state.machine.on(event(Double(state.spread >> 11) / Double(1 << 53 as UInt64)))
        }
    }
}
