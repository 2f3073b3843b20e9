// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import ConsentStores
import ConsentUseCases
import Consents
import RefreshSchedule
import Settings

/// `job`: one pass of all that `serve` does without anybody asking, beside it or in its place.
enum JobCommand {
    /// The first SIGINT or SIGTERM lets what is under way come to its end and begins nothing else; the second ends the
    /// program.
    static func run(_ place: Workplace, _ gateway: Gateway, json: Bool) async -> CommandOutput {
        await StoreCommands.untilInterrupted { isInterrupted in
            let work = gateway.backgroundWork(place) { !isInterrupted() }
            let report = await JobRun(work)()
            var pass = JobPass(report, store: gateway.location.shown)
            guard pass.early == nil else { return JobOutput.pass(pass, json: json) }
            do throws(MakeCheckpoint.Failure) {
                pass.checkpoints = try await gateway.makeCheckpoint()
            } catch {
                if case .store = error { pass.early = .storeUnavailable } else { pass.early = .interrupted }
            }
            return JobOutput.pass(pass, json: json)
        }
    }

    /// `--dry-run`: what a pass would find.
    static func dryRun(_ place: Workplace, _ gateway: Gateway, json: Bool) async -> CommandOutput {
        let now = place.time.now
        do throws(StoreFailure) {
            let waiting = try await gateway.store.waitingWork(at: now)
            let rules = RetentionRules(place.settings.retention)
            return JobOutput.dryRun(waiting, try await gateway.store.retentionTally(rules, at: now), json: json)
        } catch {
            return gateway.output(of: error)
        }
    }
}

extension JobPass {
    /// - Parameter store: where it is, for people.
    fileprivate init(_ report: JobRun.Report, store: String) {
        self.init()
        self.store = store
        let done = report.done
        grants = done.adopted.grants
        codesNamedUnknown = done.adopted.codesNamedUnknown
        refreshesNamedUnknown = done.adopted.refreshesNamedUnknown
        refreshed = done.refreshes.done
        refreshesFailed = done.refreshes.failed
        profilesFetched = done.profiles.done
        profilesFailed = done.profiles.failed
        revocations = done.revocations
        retention = done.retention
        for work in report.left {
            switch work {
            case .refreshes(let key), .profiles(let key):
                if !providersLeft.contains(key.name) { providersLeft.append(key.name) }
            case .revocations, .adoption, .retention: early = .storeUnavailable
            }
        }
        providersLeft.sort()
        if report.isInterrupted { early = .interrupted }
    }
}
