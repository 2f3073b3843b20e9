// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeJSON

/// `job`: what one pass did.
package enum JobOutput {
    /// - Parameters:
    ///   - adopted: grants that ended processes had got and not made consents of.
    ///   - revocations: how many deliveries were tried.
    ///   - checkpoints: those that were signed.
    package static func pass(
        adopted: Int, revocations: Int, checkpoints: [CheckpointName], json: Bool
    ) -> CommandOutput {
        let names = checkpoints.map(\.description)
        if json {
            var document = JSONValue.object()
            document.set("grants_adopted", adopted)
            document.set("revocations_tried", revocations)
            document.set("checkpoints_made", names)
            return CommandOutput(text: jsonDocument(document))
        }
        return CommandOutput(
            text: TextTable.text([
                ["grants taken over", String(adopted)], ["revocations tried", String(revocations)],
                ["checkpoints made", ([String(names.count)] + names).joined(separator: "  ")],
            ]))
    }

    /// `--dry-run`: what a pass would find.
    package static func dryRun(_ work: WaitingWork, json: Bool) -> CommandOutput {
        if json {
            var document = JSONValue.object()
            document.set("grants_to_adopt", work.grants)
            document.set("codes_to_name_unknown", work.codesOnTheWire)
            document.set("refreshes_to_name_unknown", work.refreshesOnTheWire)
            document.set("revocations_due", work.revocations.map(item))
            document.set("refreshes_due", work.refreshes.map(item))
            document.set("profiles_pending", work.profiles.map(item))
            return CommandOutput(text: jsonDocument(document))
        }
        let rows = [
            ["grants to take over", String(work.grants)],
            ["codes to name unknown", String(work.codesOnTheWire)],
            ["refreshes to name unknown", String(work.refreshesOnTheWire)],
            ["revocations due", text(work.revocations)],
            ["refreshes due", text(work.refreshes)],
            ["profiles pending", text(work.profiles)],
        ]
        return CommandOutput(
            text: TextTable.text(rows) + """
                Nothing was changed or sent. A pass leaves refreshes to `refresh --due`, and profiles to their
                next reader.

                """)
    }

    /// As in `7: acme 2, paypal (sandbox) 5`.
    private static func text(_ counts: [ProviderCount]) -> String {
        let total = String(counts.reduce(0) { $0 + $1.count })
        if counts.isEmpty { return total }
        let parts = counts.map { entry in
            "\(entry.provider.name)\(entry.provider.environment.map { " (\($0))" } ?? "") \(entry.count)"
        }
        return "\(total): \(parts.joined(separator: ", "))"
    }

    private static func item(_ entry: ProviderCount) -> JSONValue {
        var item = JSONValue.object()
        item.set("provider", entry.provider.name)
        item.set("environment", entry.provider.environment)
        item.set("count", entry.count)
        return item
    }
}
