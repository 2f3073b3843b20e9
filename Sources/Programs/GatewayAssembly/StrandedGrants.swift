// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import ConsentStores
import Consents
import Settings

/// Holds the store's live consents against the configured providers: one that was taken out, or given another name or
/// environment, leaves its grants behind.
enum StrandedGrants {
    /// Nothing for a store that cannot be read: `check` has another line on that.
    static func findings(_ settings: GatewaySettings, in location: StoreLocation) -> [CheckFinding] {
        guard let live = try? SQLStore.liveGrants(in: location) else { return [] }
        let configured = settings.providers.map { ProviderFacts($0).key }
        return live.filter { !configured.contains($0.provider) }.map { finding($0, configured) }
    }

    private static func finding(_ stranded: ProviderCount, _ configured: [ProviderKey]) -> CheckFinding {
        let name = stranded.provider.name
        let place = "providers.\(name)" + (stranded.provider.environment.map { " (\($0))" } ?? "")
        let grants = stranded.count == 1 ? "1 live consent" : "\(stranded.count) live consents"
        let named = configured.first { $0.name == name }
        let fault = named.map { "is configured " + ($0.environment.map { "as \($0)" } ?? "without a preset") }
        return CheckFinding(
            .warning,
            "\(place): \(grants) in the store, but it \(fault ?? "is not configured"): they are neither refreshed nor "
                + "revoked there. Configure it again under this name, or withdraw them (`consents list --provider "
                + "\(name)` names them, `consents revoke ID`)")
    }
}
