// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import ConsentStores
import ConsentUseCases
import Consents
import Glibc
import Lifecycle
import NativeSystem
import Observability
import Settings

/// The commands that work on the store while `serve` may be running.
enum StoreCommands {
    /// `refresh ID…`: each once, one after the other, its answer waited for to the end. The first SIGINT or SIGTERM lets
    /// the one under way come to its end and begins no other; the second ends the program.
    /// - Parameter isForced: whether the kept tokens of one that needs a new consent are sent once more.
    static func refresh(_ ids: [ConsentID], isForced: Bool, _ gateway: Gateway, json: Bool) async -> CommandOutput {
        await untilInterrupted { isInterrupted in
            RefreshOutput.summary(
                await refresh(ids, isForced: isForced, gateway, isInterrupted: isInterrupted), json: json)
        }
    }

    /// `refresh --due` and `refresh --all`: some at once; signals as above.
    static func refresh(_ sweep: RefreshSweep, in place: Workplace, _ gateway: Gateway, json: Bool) async
        -> CommandOutput
    {
        let subject: Subject?
        do throws(SubjectFailure) {
            subject = try sweep.subject?.read()
        } catch {
            return .failure(error.sentence, status: .usage)
        }
        let terminal = json ? nil : place.logSink as? TerminalSink
        let command = SweepCommand(place: place, gateway: gateway, sweep: sweep, json: json)
        // A list that sends nothing may end at any place.
        if sweep.isDryRun { return await command.run(of: subject, terminal: nil) { false } }
        return await untilInterrupted { isInterrupted in
            await command.run(of: subject, terminal: terminal, isInterrupted: isInterrupted)
        }
    }

    /// Runs the work with what tells whether the first SIGINT or SIGTERM has come; the second ends the program.
    static func untilInterrupted(_ work: (@escaping @Sendable () -> Bool) async -> CommandOutput) async
        -> CommandOutput
    {
        let signals: OperatorSignals
        do {
            signals = try OperatorSignals { _ in exit(ExitStatus.interrupted.rawValue) }
        } catch {
            return .failure("the process's signals cannot be watched: \(error)", status: .partlyDone)
        }
        defer { signals.stop() }
        let isInterrupted = Locked(false)
        let watching = Task { if await signals.drainRequest() != nil { isInterrupted.withLock { $0 = true } } }
        defer { watching.cancel() }
        return await work { isInterrupted.withLock { $0 } }
    }

    private static func refresh(
        _ ids: [ConsentID], isForced: Bool, _ gateway: Gateway, isInterrupted: () -> Bool
    ) async -> [RefreshResult] {
        var results: [RefreshResult] = []
        let caller = CallerIdentity(name: "command line", requestID: nil)
        for id in ids {
            if isInterrupted() {
                results.append(RefreshResult(id: id, outcome: .notBegun))
                continue
            }
            do throws(ConsentFailure) {
                let consent =
                    isForced
                    ? try await gateway.refresh.forced(id, caller: caller)
                    : try await gateway.refresh.asTrial(id, caller: caller)
                results.append(RefreshResult(id: id, outcome: .refreshed(nextAt: consent.record.timing.dueAt)))
            } catch {
                results.append(RefreshResult(id: id, outcome: .failed(error)))
            }
        }
        return results
    }

    /// `migrate` and `migrate --status`.
    static func migrate(statusOnly: Bool, in place: Workplace, json: Bool) -> CommandOutput {
        do throws(StartFailure) {
            let location = try Gateway.location(place.settings)
            do throws(StoreFailure) {
                return try migrate(location, statusOnly: statusOnly, at: place.time.now, json: json)
            } catch {
                throw StartFailure(error, at: location)
            }
        } catch {
            return error.output
        }
    }

    private static func migrate(
        _ location: StoreLocation, statusOnly: Bool, at now: Instant, json: Bool
    ) throws(StoreFailure) -> CommandOutput {
        let status = try location.migrationStatus()
        if statusOnly { return MigrationOutput.status(found: status.found, known: status.known, json: json) }
        try location.migrate(at: now)
        return MigrationOutput.applied(from: status.found, to: status.known, json: json)
    }
}
