// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeSystem

/// The loop that sleeps: begins what the plan names, and asks it again when something has ended or its time has come.
package final class Schedule: Sendable {
    private enum Event: Sendable {
        /// With the time at which it began.
        case ended(ScheduledWork, PassEnd, since: Instant)
        case woke(Duration)
    }

    private let work: BackgroundWork
    private let time: any Timekeeper
    private let passes = Locked(Passes())

    private struct Passes {
        var underWay = 0
        /// Since when works have had trouble.
        var trouble: [ScheduledWork: Instant] = [:]
    }

    package init(_ work: BackgroundWork, time: any Timekeeper) {
        self.work = work
        self.time = time
    }

    /// Passes that have not ended; none is begun any more once the process drains.
    package var passesUnderWay: Int { passes.withLock { $0.underWay } }

    /// Returns when its task is cancelled and the passes under way have ended.
    package func run() async {
        var plan = SchedulePlan(work.works, at: time.monotonic)
        await withTaskGroup(of: Event.self) { group in
            var alarm: Duration?
            while !Task.isCancelled {
                for work in work.mayBegin ? plan.begin(at: time.monotonic) : [] {
                    passes.withLock { $0.underWay += 1 }
                    group.addTask { await self.pass(work) }
                }
                if let wakeAt = wakeAt(plan), alarm.map({ wakeAt < $0 }) ?? true {
                    alarm = wakeAt
                    group.addTask { await self.sleep(until: wakeAt) }
                }
                switch await group.next() {
                case .ended(let work, let end, let since)?:
                    note(work, end, since)
                    plan.end(work, end, at: time.monotonic)
                case .woke(let at)?: if alarm == at { alarm = nil }
                case nil: return
                }
            }
            group.cancelAll()
        }
    }

    private func pass(_ work: ScheduledWork) async -> Event {
        let start = time.now
        let since = passes.withLock { $0.trouble[work] }
        return .ended(work, await self.work.pass(work, inTroubleSince: since).end, since: start)
    }

    /// A process that drains is only waited for.
    private func wakeAt(_ plan: SchedulePlan) -> Duration? {
        work.mayBegin ? plan.wakeAt : time.monotonic + .seconds(1)
    }

    private func sleep(until wakeAt: Duration) async -> Event {
        try? await time.sleep(until: wakeAt)
        return .woke(wakeAt)
    }

    private func note(_ work: ScheduledWork, _ end: PassEnd, _ start: Instant) {
        passes.withLock { passes in
            passes.underWay -= 1
            if end != .troubled {
                passes.trouble[work] = nil
            } else if passes.trouble[work] == nil {
                passes.trouble[work] = start
            }
        }
    }
}
