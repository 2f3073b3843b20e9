// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import ConsentStores
import ConsentUseCases
import Consents

/// `incidents`, `incidents confirm` and `incidents dismiss`.
enum IncidentCommands {
    static func list(_ place: Workplace, _ gateway: Gateway, json: Bool) async -> CommandOutput {
        do throws(StoreFailure) {
            return IncidentsOutput.list(try await gateway.store.providerStates(), at: place.time.now, json: json)
        } catch { return gateway.output(of: error) }
    }

    static func decide(_ decision: VerdictDecision, of name: String, _ gateway: Gateway, json: Bool) async
        -> CommandOutput
    {
        guard let key = gateway.directory.connection(named: name)?.facts.key else {
            return gateway.unknown(name)
        }
        let caller = CallerIdentity(name: "command line", requestID: nil)
        do throws(StoreFailure) {
            let count = try await gateway.decideVerdicts(decision, of: key, caller: caller)
            return IncidentsOutput.decided(decision, of: name, count: count, json: json)
        } catch { return gateway.output(of: error) }
    }
}
