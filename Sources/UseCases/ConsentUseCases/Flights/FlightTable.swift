// SPDX-License-Identifier: Apache-2.0
package import Consents
import NativeSystem

/// Work under way, by what it works on, so that whoever asks for the same shares one outcome.
///
/// A flight leaves the table on every outcome, and nobody waits for one longer than he says. Behind a lock, for an actor
/// would cost each flight a change of threads for every look at the table.
package final class FlightTable<Key: Hashable & Sendable, Outcome: Sendable>: Sendable {
    /// What somebody who asks finds.
    package enum Seat: Sendable {
        /// Nobody worked on it: the asker's work was launched.
        case leads
        /// Somebody does, for the same owner.
        case waits
        /// Somebody does, for another owner.
        case belongsToAnother
    }

    /// An object: a copy of a value would look its continuation's type up at run time.
    private final class Waiter: Sendable {
        /// Monotonic.
        let deadline: Duration
        let continuation: CheckedContinuation<Outcome?, Never>

        init(deadline: Duration, continuation: CheckedContinuation<Outcome?, Never>) {
            self.deadline = deadline
            self.continuation = continuation
        }
    }

    private struct Flight: Sendable {
        let owner: BlindIndex?
        var waiters: [Waiter]
    }

    private struct State: Sendable {
        var flights: [Key: Flight] = [:]
        /// Rings no later than the first deadline of those who wait: one for all, for hardly anybody waits that long.
        var alarm: (at: Duration, task: Task<Void, Never>)?
    }

    private let state = Locked(State())
    private let time: any Timekeeper
    private let launcher: any TaskLauncher

    package init(time: any Timekeeper, launcher: any TaskLauncher) {
        self.time = time
        self.launcher = launcher
    }

    /// How many flights are under way.
    package var count: Int { state.withLock { $0.flights.count } }

    /// Launches the work if nobody has, and waits.
    /// - Parameter deadline: monotonic time at which waiting ends; the work goes on.
    /// - Returns: the outcome and whether this call led; the outcome is nil where the deadline came first, and the seat
    ///   tells of another owner.
    package func share(
        _ key: Key, owner: BlindIndex?, until deadline: Duration,
        _ work: @escaping @Sendable () async -> Outcome
    ) async -> (seat: Seat, outcome: Outcome?) {
        var seat = Seat.belongsToAnother
        let outcome: Outcome? = await withCheckedContinuation { continuation in
            seat = board(key, owner: owner, Waiter(deadline: deadline, continuation: continuation))
            switch seat {
            // Who leads waits already: the work may end before this returns.
            case .leads: launcher.launch { self.land(key, with: await work()) }
            case .waits: break
            case .belongsToAnother: continuation.resume(returning: nil)
            }
        }
        return (seat, outcome)
    }

    /// Takes a seat in a flight, and opens one where there is none.
    private func board(_ key: Key, owner: BlindIndex?, _ waiter: Waiter) -> Seat {
        state.withLock { state in
            guard let flight = state.flights[key] else {
                state.flights[key] = Flight(owner: owner, waiters: [waiter])
                setAlarm(for: waiter.deadline, &state)
                return .leads
            }
            guard flight.owner == owner else { return .belongsToAnother }
            state.flights[key]?.waiters.append(waiter)
            setAlarm(for: waiter.deadline, &state)
            return .waits
        }
    }

    private func land(_ key: Key, with outcome: Outcome) {
        let flight = state.withLock { $0.flights.removeValue(forKey: key) }
        for waiter in flight?.waiters ?? [] { waiter.continuation.resume(returning: outcome) }
    }

    private func setAlarm(for deadline: Duration, _ state: inout State) {
        if let alarm = state.alarm, alarm.at <= deadline { return }
        state.alarm?.task.cancel()
        let time = time
        let task = launcher.launch { [weak self] in
            guard (try? await time.sleep(until: deadline)) != nil else { return }
            self?.ring(at: deadline)
        }
        state.alarm = (deadline, task)
    }

    /// Whoever's deadline has come is told so, and the alarm is set for the next one.
    private func ring(at deadline: Duration) {
        let now = max(time.monotonic, deadline)
        let late = state.withLock { state in
            // Another may have been set meanwhile, for an earlier time; it finds whoever is late by then.
            if state.alarm?.at == deadline { state.alarm = nil }
            return takeLate(at: now, &state)
        }
        for waiter in late { waiter.continuation.resume(returning: nil) }
    }

    /// Takes those from the table whose deadline has come, and sets the alarm for the first of the others.
    private func takeLate(at now: Duration, _ state: inout State) -> [Waiter] {
        var late: [Waiter] = []
        var next: Duration?
        for (key, flight) in state.flights where !flight.waiters.isEmpty {
            let staying = flight.waiters.filter { $0.deadline > now }
            late += flight.waiters.filter { $0.deadline <= now }
            if staying.count < flight.waiters.count { state.flights[key]?.waiters = staying }
            for waiter in staying { next = min(next ?? waiter.deadline, waiter.deadline) }
        }
        if let next { setAlarm(for: next, &state) }
        return late
    }

    deinit { state.withLock { $0.alarm?.task.cancel() } }
}
