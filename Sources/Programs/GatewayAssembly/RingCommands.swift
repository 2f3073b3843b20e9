// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Settings
import TokenVaults

/// `keys status`: the ring's names and times.
enum RingCommands {
    static func status(_ settings: GatewaySettings, environment: [String: String], json: Bool) -> CommandOutput {
        do throws(StartFailure) {
            let ring = try KeyRing.open(settings.vault.keys, environment: environment)
            let keys = ring.keys.map { id, key in
                RingStatus.Key(id: id, createdAt: key.createdAt, retiredAt: key.retiredAt)
            }
            let evidence = ring.evidence.keys.map { id, key in
                RingStatus.Key(id: id, createdAt: key.createdAt, retiredAt: key.retiredAt)
            }
            return KeyListOutput.ring(
                RingStatus(
                    source: text(settings.vault.keys), currentID: ring.currentID, keys: keys,
                    currentEvidenceID: ring.evidence.currentID, evidenceKeys: evidence),
                json: json)
        } catch {
            return error.output
        }
    }

    private static func text(_ source: SecretSource) -> String {
        switch source {
        case .literal: "the configuration"
        case .environment(let name): "env \(name)"
        case .file(let path): "file \(path)"
        // Its arguments may be secrets.
        case .command(let arguments): "command \(arguments.first ?? "")"
        }
    }
}
