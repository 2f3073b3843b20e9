// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeSystem

/// The loop that sleeps: begins what the plan names, and asks it again when something has ended or its time has come.
package final class Schedule: Sendable {
    private enum Event: Sendable {
        case ended(ScheduledWork, PassEnd)
        case woke(Duration)
    }

    private let work: BackgroundWork
    private let time: any Timekeeper
    private let underWay = Locked(0)

    package init(_ work: BackgroundWork, time: any Timekeeper) {
        self.work = work
        self.time = time
    }

    /// Passes that have not ended; none is begun any more once the process drains.
    package var passesUnderWay: Int { underWay.withLock { $0 } }

    /// Returns when its task is cancelled and the passes under way have ended.
    package func run() async {
        var plan = SchedulePlan(work.works, at: time.monotonic)
        await withTaskGroup(of: Event.self) { group in
            var alarm: Duration?
            while !Task.isCancelled {
                for work in work.mayBegin ? plan.begin(at: time.monotonic) : [] {
                    underWay.withLock { $0 += 1 }
                    let isProbing = plan.isProbing(work)
                    group.addTask { .ended(work, await self.work.pass(work, isProbing: isProbing).end) }
                }
                if let wakeAt = wakeAt(plan), alarm.map({ wakeAt < $0 }) ?? true {
                    alarm = wakeAt
                    group.addTask { await self.sleep(until: wakeAt) }
                }
                switch await group.next() {
                case .ended(let work, let end)?:
                    underWay.withLock { $0 -= 1 }
                    plan.end(work, end, at: time.monotonic)
                case .woke(let at)?: if alarm == at { alarm = nil }
                case nil: return
                }
            }
            group.cancelAll()
        }
    }

    /// A process that drains is only waited for.
    private func wakeAt(_ plan: SchedulePlan) -> Duration? {
        work.mayBegin ? plan.wakeAt : time.monotonic + .seconds(1)
    }

    private func sleep(until wakeAt: Duration) async -> Event {
        try? await time.sleep(until: wakeAt)
        return .woke(wakeAt)
    }
}
