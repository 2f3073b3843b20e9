// SPDX-License-Identifier: Apache-2.0
/// What the connections of a pool do next: told what has happened to one, it says what follows. Without a connection, a
/// thread or a clock of its own.
///
/// A connection is one thread's, numbered from 0, which opens it, works on it, and opens it again where it was lost. What
/// there is to do waits in one line for all of them. All try to be open all the time. While none stands and the last try
/// has failed, nobody is let wait longer than until the next failure: that a server is down is told at once.
package struct PoolMachine: Sendable {
    package enum Event: Sendable, Equatable {
        case opened(slot: Int)
        /// - jitter: a random number from 0 to 1.
        case failedToOpen(slot: Int, jitter: Double)
        /// In use, or found dead when it was to be used.
        case lost(slot: Int, jitter: Double)
        /// The pause that was told is over.
        case paused(slot: Int)
        /// The thread ends, and its connection with it.
        case ended(slot: Int)
    }

    package enum Action: Sendable, Equatable {
        case open
        /// Until the connection is lost or the work is over.
        case work
        /// - refusesLine: whoever waits is refused first.
        case pause(Duration, refusesLine: Bool)
        case end
    }

    private enum Slot: Sendable, Equatable { case opening, standing, pausing, ended }

    private let rules: PoolRules
    private var slots: [Slot]
    /// Each slot's tries in a row that failed.
    private var failures: [Int]

    /// All are being opened.
    package init(_ rules: PoolRules) {
        self.rules = rules
        slots = Array(repeating: .opening, count: max(1, rules.size))
        failures = Array(repeating: 0, count: max(1, rules.size))
    }

    /// How many connections stand.
    package var standing: Int { slots.count { $0 == .standing } }

    package mutating func on(_ event: Event) -> Action {
        switch event {
        case .opened(let slot):
            slots[slot] = .standing
            failures[slot] = 0
            return .work
        case .failedToOpen(let slot, let jitter):
            slots[slot] = .pausing
            failures[slot] += 1
            return .pause(rules.pause(after: failures[slot], jitter: jitter), refusesLine: isDown)
        case .lost(let slot, let jitter):
            // Never at once: a server that takes connections and drops them would be asked without a pause.
            slots[slot] = .pausing
            return .pause(rules.pause(after: 1, jitter: jitter), refusesLine: false)
        case .paused(let slot):
            slots[slot] = .opening
            return .open
        case .ended(let slot):
            slots[slot] = .ended
            return .end
        }
    }

    /// No connection stands, and none is about to be opened but such as have failed before.
    private var isDown: Bool {
        !slots.indices.contains { slots[$0] == .standing || (slots[$0] != .ended && failures[$0] == 0) }
    }
}
