// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import ConsentStores
import ConsentUseCases
import Consents
import NativeSystem
import Observability
import Settings

/// The commands that work on the store while `serve` may be running.
enum StoreCommands {
    /// `refresh ID…`: each once, one after the other.
    static func refresh(_ ids: [ConsentID], in place: Workplace, _ gateway: Gateway, json: Bool) async
        -> CommandOutput
    {
        var results: [RefreshResult] = []
        let caller = CallerIdentity(name: "command line", requestID: nil)
        for id in ids {
            do throws(ConsentFailure) {
                let consent = try await gateway.refresh(id, caller: caller)
                results.append(RefreshResult(id: id, outcome: .refreshed(nextAt: consent.record.timing.dueAt)))
            } catch {
                results.append(RefreshResult(id: id, outcome: .failed(error)))
            }
        }
        return RefreshOutput.summary(results, json: json)
    }

    /// `job`: what ended processes left, and the revocations that are due.
    static func job(_ gateway: Gateway, json: Bool) async -> CommandOutput {
        let adopted = await gateway.redeem.adoptAbandoned()
        do throws(StoreFailure) {
            let tried = try await gateway.deliverRevocations(limit: 1000)
            return JobOutput.pass(adopted: adopted, revocations: tried, json: json)
        } catch {
            return .failure("\(error)", status: .storeOrKeys)
        }
    }

    /// `migrate` and `migrate --status`.
    static func migrate(statusOnly: Bool, in place: Workplace, json: Bool) -> CommandOutput {
        do throws(StoreFailure) {
            let path = try Gateway.sqlitePath(place.settings)
            let wait = SQLiteStoreLimits.standard.busyTimeout
            let status = try SQLiteMigrations.status(path: path, busyTimeout: wait)
            if statusOnly { return MigrationOutput.status(found: status.found, known: status.known, json: json) }
            try SQLiteMigrations.apply(path: path, busyTimeout: wait, at: place.time.now)
            return MigrationOutput.applied(from: status.found, to: status.known, json: json)
        } catch {
            return .failure("\(error)", status: .storeOrKeys)
        }
    }
}
