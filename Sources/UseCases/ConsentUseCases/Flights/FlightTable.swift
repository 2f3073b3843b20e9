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

    private struct Flight {
        let owner: BlindIndex?
        var waiters: [Int: CheckedContinuation<Outcome?, Never>] = [:]
    }

    private var flights: [Key: Flight] = [:]
    private var nextWaiter = 0
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
        nextWaiter += 1
        let waiter = nextWaiter
        let time = time
        let alarm = launcher.launch { [weak self] in
            guard (try? await time.sleep(until: deadline)) != nil else { return }
            await self?.giveUp(waiter, on: key)
        }
        defer { alarm.cancel() }
        return await withCheckedContinuation { continuation in
            if flights[key] == nil {
                continuation.resume(returning: nil)
            } else {
                flights[key]?.waiters[waiter] = continuation
            }
        }
    }

    private func land(_ key: Key, with outcome: Outcome) {
        guard let flight = flights.removeValue(forKey: key) else { return }
        for waiter in flight.waiters.values { waiter.resume(returning: outcome) }
    }

    private func giveUp(_ waiter: Int, on key: Key) {
        flights[key]?.waiters.removeValue(forKey: waiter)?.resume(returning: nil)
    }
}
