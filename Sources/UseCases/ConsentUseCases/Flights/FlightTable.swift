// SPDX-License-Identifier: Apache-2.0
package import Consents

/// Work under way, by what it works on, so that whoever asks for the same shares one outcome.
///
/// A flight leaves the table on every outcome, and nobody waits for one longer than he says.
package actor FlightTable<Key: Hashable & Sendable, Outcome: Sendable> {
    /// What somebody who asks finds.
    package enum Seat: Sendable {
        /// Nobody works on it: the asker must launch the work and `land` it.
        case leads
        /// Somebody does, for the same owner.
        case waits
        /// Somebody does, for another owner.
        case belongsToAnother
    }

    private struct Waiter {
        /// Monotonic.
        let deadline: Duration
        let continuation: CheckedContinuation<Outcome?, Never>
    }

    private struct Flight {
        let owner: BlindIndex?
        var waiters: [Waiter] = []
    }

    private var flights: [Key: Flight] = [:]
    /// Rings no later than the first deadline of those who wait: one for all, for hardly anybody waits that long.
    private var alarm: (at: Duration, task: Task<Void, Never>)?
    private let time: any Timekeeper
    private let launcher: any TaskLauncher

    package init(time: any Timekeeper, launcher: any TaskLauncher) {
        self.time = time
        self.launcher = launcher
    }

    package var count: Int { flights.count }

    /// Takes a seat in a flight, and opens one where there is none.
    package func board(_ key: Key, owner: BlindIndex?) -> Seat {
        guard let flight = flights[key] else {
            flights[key] = Flight(owner: owner)
            return .leads
        }
        return flight.owner == owner ? .waits : .belongsToAnother
    }

    /// Boards, launches the work if nobody has, and waits.
    /// - Parameter deadline: monotonic time at which waiting ends; the work goes on.
    /// - Returns: the outcome and whether this call led; the outcome is nil where the deadline came first, and the seat
    ///   tells of another owner.
    package func share(
        _ key: Key, owner: BlindIndex?, until deadline: Duration,
        _ work: @escaping @Sendable () async -> Outcome
    ) async -> (seat: Seat, outcome: Outcome?) {
        let seat = board(key, owner: owner)
        switch seat {
        case .belongsToAnother: return (seat, nil)
        case .waits: return (seat, await outcome(of: key, until: deadline))
        case .leads:
            launcher.launch { await self.land(key, with: await work()) }
            return (seat, await outcome(of: key, until: deadline))
        }
    }

    private func outcome(of key: Key, until deadline: Duration) async -> Outcome? {
        setAlarm(for: deadline)
        return await withCheckedContinuation { continuation in
            if flights[key] == nil {
                continuation.resume(returning: nil)
            } else {
                flights[key]?.waiters.append(Waiter(deadline: deadline, continuation: continuation))
            }
        }
    }

    private func land(_ key: Key, with outcome: Outcome) {
        guard let flight = flights.removeValue(forKey: key) else { return }
        for waiter in flight.waiters { waiter.continuation.resume(returning: outcome) }
    }

    private func setAlarm(for deadline: Duration) {
        if let alarm, alarm.at <= deadline { return }
        alarm?.task.cancel()
        let time = time
        let task = launcher.launch { [weak self] in
            guard (try? await time.sleep(until: deadline)) != nil else { return }
            await self?.ring(at: deadline)
        }
        alarm = (deadline, task)
    }

    /// Whoever's deadline has come is told so, and the alarm is set for the next one.
    private func ring(at deadline: Duration) {
        let now = max(time.monotonic, deadline)
        alarm = nil
        var next: Duration?
        for (key, flight) in flights where !flight.waiters.isEmpty {
            let staying = flight.waiters.filter { $0.deadline > now }
            for waiter in flight.waiters where waiter.deadline <= now { waiter.continuation.resume(returning: nil) }
            flights[key]?.waiters = staying
            for waiter in staying { next = min(next ?? waiter.deadline, waiter.deadline) }
        }
        if let next { setAlarm(for: next) }
    }

    deinit { alarm?.task.cancel() }
}
