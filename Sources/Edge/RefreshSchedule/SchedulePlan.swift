// SPDX-License-Identifier: Apache-2.0
package import Consents

/// One kind of background work. Each rests and is taken up by itself: what waits at one provider holds up no other.
package enum ScheduledWork: Hashable, Sendable {
    case refreshes(ProviderKey)
    case profiles(ProviderKey)
    case revocations
    /// What ended processes left.
    case adoption
    case retention
}

/// What one pass of a work came to.
package enum PassEnd: Sendable, Equatable {
    /// There may be more: a bound was met.
    case more
    /// Nothing is left; where it is known, how long until the next is due.
    case idle(next: Duration?)
    /// The provider may not be called for so long.
    case blocked(for: Duration)
    /// One attempt after the other failed, and not through the grants' fault; or the store is out of reach.
    case troubled
    /// It began no more because the process drains.
    case interrupted
}

/// What is to be done now, and when to look again: the pure half of the scheduler.
package struct SchedulePlan: Sendable {
    private struct State: Sendable {
        var isRunning = false
        /// Monotonic.
        var nextAt: Duration
        /// How many passes in a row ended in trouble.
        var troubles = 0
    }

    private var states: [ScheduledWork: State] = [:]
    private let order: [ScheduledWork]

    /// How long trouble is left alone at most: then one call is tried.
    static let longestRest = Duration.seconds(60)

    /// - Parameters:
    ///   - works: in the order in which they are begun where several are due.
    ///   - now: monotonic.
    package init(_ works: [ScheduledWork], at now: Duration) {
        order = works
        for work in works { states[work] = State(nextAt: now) }
    }

    /// What is to be begun now; it counts as running from then on.
    package mutating func begin(at now: Duration) -> [ScheduledWork] {
        let due = order.filter { states[$0].map { !$0.isRunning && $0.nextAt <= now } ?? false }
        for work in due { states[work]?.isRunning = true }
        return due
    }

    /// When something is next to be begun; nil while all of it runs.
    package var wakeAt: Duration? { states.values.filter { !$0.isRunning }.map(\.nextAt).min() }

    /// Whether the work had trouble last: then it tries one call before it goes on.
    package func isProbing(_ work: ScheduledWork) -> Bool { (states[work]?.troubles ?? 0) > 0 }

    package mutating func end(_ work: ScheduledWork, _ end: PassEnd, at now: Duration) {
        guard var state = states[work] else { return }
        state.isRunning = false
        let look = SchedulePlan.interval(of: work)
        switch end {
        case .more: state.nextAt = now
        case .idle(let next): state.nextAt = now + min(look, max(next ?? look, SchedulePlan.shortestRest))
        case .blocked(let time): state.nextAt = now + min(max(time, SchedulePlan.shortestRest), look)
        case .troubled: state.nextAt = now + SchedulePlan.rest(after: state.troubles)
        case .interrupted: state.nextAt = now + look
        }
        state.troubles = end == .troubled ? state.troubles + 1 : 0
        states[work] = state
    }

    static let shortestRest = Duration.milliseconds(20)

    /// How often it is looked for, where nothing tells when the next is due.
    static func interval(of work: ScheduledWork) -> Duration {
        switch work {
        case .refreshes: .seconds(2)
        case .revocations: .seconds(2)
        case .profiles, .adoption: .seconds(5)
        case .retention: .seconds(600)
        }
    }

    /// After the first trouble 1 s, then twice as long each time.
    static func rest(after troubles: Int) -> Duration { min(.seconds(1 << min(troubles, 10)), longestRest) }
}
