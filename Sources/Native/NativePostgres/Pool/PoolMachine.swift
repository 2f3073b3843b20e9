// SPDX-License-Identifier: Apache-2.0
/// What a pool of connections does next: told what has happened, it says what to do. Without a connection, a thread or
/// a clock of its own.
///
/// A connection belongs to a slot, numbered from 0. All slots try to be open all the time; whoever asks is lent one that
/// is ready, or waits in line. While no connection stands and the last try failed, nobody is let wait longer than until
/// the next failure: a server that is down is told at once, not after everybody's patience.
///
/// Instants are those of one monotonic clock.
package struct PoolMachine: Sendable {
    /// Whoever asks for a connection, by a number that the driver gives.
    package typealias Asker = UInt64

    package enum Event: Sendable, Equatable {
        /// To be told once, first.
        case started
        case asked(Asker)
        /// An asker no longer wants one. Told too late, it has the connection and gives it back.
        case withdrew(Asker)
        case opened(slot: Int)
        /// - jitter: a random number from 0 to 1.
        case failedToOpen(slot: Int, jitter: Double)
        /// - isUsable: false where the connection was lost in use.
        case gaveBack(slot: Int, isUsable: Bool)
        /// A connection that nobody uses was found dead.
        case died(slot: Int)
        case closed(slot: Int)
        /// An instant that `wake` named has come; or any other, which does no harm.
        case ticked
        /// No more of it: whoever waits is refused, what is lent is closed once it is back.
        case stopped
    }

    package enum Refusal: Sendable, Equatable {
        case tooManyWait, patienceIsOver, serverIsDown, isStopping
    }

    package enum Action: Sendable, Equatable {
        case open(slot: Int)
        case lend(slot: Int, to: Asker)
        case refuse(Asker, Refusal)
        case close(slot: Int)
        /// After `stopped`, once: no connection is left.
        case end
    }

    private enum Slot: Sendable, Equatable {
        case closed
        case opening
        case ready
        case lent
        /// Tries again then.
        case pausing(until: Duration)
        case closing
    }

    private struct Waiter: Sendable {
        let asker: Asker
        let deadline: Duration
    }

    private let rules: PoolRules
    private var slots: [Slot]
    /// Those that are ready, the one that was given back last at the end: it is lent first, warm as it is.
    private var ready: [Int] = []
    /// In the order in which they came, and so of their deadlines.
    private var waiters: [Waiter] = []
    /// Each slot's tries in a row that failed.
    private var failures: [Int]
    private var isStopping = false
    private var hasEnded = false

    package init(_ rules: PoolRules) {
        self.rules = rules
        slots = Array(repeating: .closed, count: max(1, rules.size))
        failures = Array(repeating: 0, count: max(1, rules.size))
    }

    /// When `ticked` is wanted next; nil where nothing waits for time.
    package var wake: Duration? {
        let pauses = slots.compactMap { if case .pausing(let until) = $0 { until } else { nil } }
        return (pauses + (waiters.first.map { [$0.deadline] } ?? [])).min()
    }

    /// A connection stands, lent or not.
    package var isConnected: Bool { slots.contains { $0 == .ready || $0 == .lent } }

    /// Slots that are lent, and callers that wait; for metrics.
    package var load: (lent: Int, waiting: Int) { (slots.count { $0 == .lent }, waiters.count) }

    package mutating func on(_ event: Event, at now: Duration) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .started: for slot in slots.indices where slots[slot] == .closed { open(slot, &actions) }
        case .asked(let asker): take(asker, now, &actions)
        case .withdrew(let asker): waiters.removeAll { $0.asker == asker }
        case .opened(let slot) where slots[slot] == .opening:
            failures[slot] = 0
            makeReady(slot, &actions)
        case .failedToOpen(let slot, let jitter) where slots[slot] == .opening:
            pause(slot, jitter, now, &actions)
        case .gaveBack(let slot, let isUsable) where slots[slot] == .lent:
            if isUsable { makeReady(slot, &actions) } else { close(slot, &actions) }
        case .died(let slot) where slots[slot] == .ready:
            ready.removeAll { $0 == slot }
            close(slot, &actions)
        case .closed(let slot) where slots[slot] == .closing:
            slots[slot] = .closed
            if !isStopping { open(slot, &actions) }
        case .ticked: tick(now, &actions)
        case .stopped: stop(&actions)
        default: break  // Too late: the slot has moved on.
        }
        endIfLast(&actions)
        return actions
    }

    // MARK: Slots

    private mutating func open(_ slot: Int, _ actions: inout [Action]) {
        slots[slot] = .opening
        actions.append(.open(slot: slot))
    }

    private mutating func close(_ slot: Int, _ actions: inout [Action]) {
        slots[slot] = .closing
        actions.append(.close(slot: slot))
    }

    private mutating func makeReady(_ slot: Int, _ actions: inout [Action]) {
        if isStopping {
            close(slot, &actions)
        } else if waiters.isEmpty {
            slots[slot] = .ready
            ready.append(slot)
        } else {
            lend(slot, to: waiters.removeFirst().asker, &actions)
        }
    }

    private mutating func lend(_ slot: Int, to asker: Asker, _ actions: inout [Action]) {
        slots[slot] = .lent
        actions.append(.lend(slot: slot, to: asker))
    }

    private mutating func pause(_ slot: Int, _ jitter: Double, _ now: Duration, _ actions: inout [Action]) {
        guard !isStopping else {
            slots[slot] = .closed
            return
        }
        failures[slot] += 1
        slots[slot] = .pausing(until: now + rules.pause(after: failures[slot], jitter: jitter))
        if !isConnected { refuseAll(.serverIsDown, &actions) }
    }

    // MARK: Askers

    private mutating func take(_ asker: Asker, _ now: Duration, _ actions: inout [Action]) {
        if isStopping {
            actions.append(.refuse(asker, .isStopping))
        } else if let slot = ready.popLast() {
            lend(slot, to: asker, &actions)
        } else if isDown {
            actions.append(.refuse(asker, .serverIsDown))
        } else if waiters.count >= rules.waiting {
            actions.append(.refuse(asker, .tooManyWait))
        } else {
            waiters.append(Waiter(asker: asker, deadline: now + rules.patience))
        }
    }

    /// No connection stands, and none is being opened but such as have failed before.
    private var isDown: Bool {
        !isConnected
            && !slots.indices.contains { slots[$0] == .closing || (slots[$0] == .opening && failures[$0] == 0) }
    }

    private mutating func refuseAll(_ refusal: Refusal, _ actions: inout [Action]) {
        actions += waiters.map { .refuse($0.asker, refusal) }
        waiters.removeAll()
    }

    private mutating func tick(_ now: Duration, _ actions: inout [Action]) {
        while let first = waiters.first, first.deadline <= now {
            waiters.removeFirst()
            actions.append(.refuse(first.asker, .patienceIsOver))
        }
        for slot in slots.indices {
            if case .pausing(let until) = slots[slot], until <= now { open(slot, &actions) }
        }
    }

    // MARK: The end

    private mutating func stop(_ actions: inout [Action]) {
        guard !isStopping else { return }
        isStopping = true
        refuseAll(.isStopping, &actions)
        for slot in slots.indices {
            if case .pausing = slots[slot] { slots[slot] = .closed }
            if slots[slot] == .ready { close(slot, &actions) }
        }
        ready.removeAll()
    }

    private mutating func endIfLast(_ actions: inout [Action]) {
        guard isStopping, !hasEnded, slots.allSatisfy({ $0 == .closed }) else { return }
        hasEnded = true
        actions.append(.end)
    }
}
