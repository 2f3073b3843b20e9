// SPDX-License-Identifier: Apache-2.0
/// One pass of all background work, each kind until nothing of it is left; then it ends.
package struct JobRun: Sendable {
    private let work: BackgroundWork

    package init(_ work: BackgroundWork) { self.work = work }

    /// What was done, and what was left: works that had trouble, or whose provider may not be called.
    package struct Report: Sendable {
        package var done = BackgroundWork.Done()
        package var left: [ScheduledWork] = []
        package var isInterrupted = false
    }

    package func callAsFunction() async -> Report {
        var report = Report()
        await withTaskGroup(of: (work: ScheduledWork, end: PassEnd, done: BackgroundWork.Done).self) { group in
            for one in work.works { group.addTask { await through(one) } }
            for await ended in group {
                report.done += ended.done
                switch ended.end {
                case .more, .idle: break
                case .blocked, .troubled: report.left.append(ended.work)
                case .interrupted: report.isInterrupted = true
                }
            }
        }
        return report
    }

    private func through(_ one: ScheduledWork) async -> (
        work: ScheduledWork, end: PassEnd, done: BackgroundWork.Done
    ) {
        var done = BackgroundWork.Done()
        while true {
            let pass = await work.pass(one, isProbing: false)
            done += pass.done
            if pass.end != .more { return (one, pass.end, done) }
        }
    }
}
