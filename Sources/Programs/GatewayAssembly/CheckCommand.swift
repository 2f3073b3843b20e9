// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import ConsentStores
import Consents
import Settings
import TokenVaults

/// `check`: reads configuration, secrets, keys and store, and says what would fail.
enum CheckCommand {
    static func run(configPath: String?, environment: [String: String], json: Bool) -> CommandOutput {
        let loaded: LoadedSettings
        do throws(SettingsErrors) {
            loaded = try SettingsLoader.load(path: configPath, environment: environment, options: .whole)
        } catch {
            let findings =
                error.entries.map { CheckFinding(.error, "\($0)") }
                + error.warnings.map { CheckFinding(.warning, "\($0)") }
            return CheckOutput.lines(findings, json: json, failure: .configuration)
        }
        var findings = [CheckFinding(.ok, "\(loaded.filePath): the configuration and its secrets can be read")]
        findings += loaded.warnings.map { CheckFinding(.warning, "\($0)") }
        findings.append(keys(loaded.settings, environment))
        findings.append(store(loaded.settings))
        findings += loaded.settings.providers.map(provider)
        return CheckOutput.lines(findings, json: json)
    }

    private static func keys(_ settings: GatewaySettings, _ environment: [String: String]) -> CheckFinding {
        do throws(StartFailure) {
            let ring = try KeyRing.open(settings.vault.keys, environment: environment)
            return CheckFinding(.ok, "vault.keys: the ring seals under the key \(ring.currentID)")
        } catch {
            return CheckFinding(.error, error.sentence)
        }
    }

    private static func store(_ settings: GatewaySettings) -> CheckFinding {
        do throws(StoreFailure) {
            let path = try Gateway.sqlitePath(settings)
            let status = try SQLiteMigrations.status(
                path: path, busyTimeout: SQLiteStoreLimits.standard.busyTimeout)
            if status.found > status.known {
                throw .schemaIsNewer(found: status.found, known: status.known)
            }
            if status.found == status.known {
                return CheckFinding(.ok, "store.url: the schema is version \(status.found), as it must be")
            }
            if settings.store.migrate == .auto {
                return CheckFinding(.ok, "store.url: the schema will be brought to version \(status.known) at start")
            }
            throw .schemaIsOlder(found: status.found, known: status.known)
        } catch {
            return CheckFinding(.error, "store.url: \(error)")
        }
    }

    private static func provider(_ provider: ProviderSettings) -> CheckFinding {
        let facts = ProviderFacts(provider)
        let environment = facts.key.environment.map { " (\($0))" } ?? ""
        return CheckFinding(
            .ok, "providers.\(provider.name)\(environment): codes go to \(facts.issuer.tokenEndpoint); it was not asked"
        )
    }
}
