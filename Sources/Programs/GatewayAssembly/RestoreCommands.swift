// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import ConsentUseCases
import Consents

/// `restore-check` and `restore-check --accept`.
enum RestoreCommands {
    static func check(_ gateway: Gateway, json: Bool) async -> CommandOutput {
        do throws(CheckRestore.Failure) {
            let report = try await gateway.restore()
            return RestoreOutput.report(RestoreFindings(report), json: json)
        } catch { return failure(error) }
    }

    static func accept(_ gateway: Gateway, json: Bool) async -> CommandOutput {
        do throws(CheckRestore.Failure) {
            // An acceptance has each grant tried once: not where there is nothing to accept.
            let report = try await gateway.restore()
            let found = RestoreFindings(report)
            if found.isInOrder { return RestoreOutput.report(found, json: json) }
            let accepted = try await gateway.restore.accept(
                report, caller: CallerIdentity(name: "command line", requestID: nil))
            return RestoreOutput.accepted(
                accepted.epoch, withdrawn: accepted.withdrawn, failed: accepted.failed, json: json)
        } catch { return failure(error) }
    }

    private static func failure(_ failure: CheckRestore.Failure) -> CommandOutput {
        switch failure {
        case .store(let failure): .failure("\(failure)", status: .storeOrKeys)
        case .state(let failure): .failure("state_dir: \(failure)", status: .storeOrKeys)
        }
    }
}

extension RestoreFindings {
    fileprivate init(_ report: RestoreReport) {
        self.init(
            store: report.store, noted: report.noted, isBehind: report.isBehind, grants: report.grants,
            dueInLostTime: report.dueInLostTime, touchedSince: report.touchedSince,
            missing: report.missing.map { ($0.id, $0.end.rawValue) })
    }
}
