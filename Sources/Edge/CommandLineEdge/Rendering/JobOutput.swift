// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeJSON

/// What one pass of the scheduled job did.
package struct JobPass: Sendable {
    /// Grants that ended processes had got and not made consents of.
    package var grants: Int
    /// Codes, then refreshes, that ended processes had on the wire.
    package var codesNamedUnknown: Int
    package var refreshesNamedUnknown: Int
    /// How many deliveries were tried.
    package var revocations: Int
    /// Those that were signed.
    package var checkpoints: [CheckpointName]

    package init(
        grants: Int, codesNamedUnknown: Int, refreshesNamedUnknown: Int, revocations: Int,
        checkpoints: [CheckpointName]
    ) {
        self.grants = grants
        self.codesNamedUnknown = codesNamedUnknown
        self.refreshesNamedUnknown = refreshesNamedUnknown
        self.revocations = revocations
        self.checkpoints = checkpoints
    }
}

/// `job`: what one pass did.
package enum JobOutput {
    package static func pass(_ pass: JobPass, json: Bool) -> CommandOutput {
        let names = pass.checkpoints.map(\.description)
        if json {
            var document = JSONValue.object()
            document.set("grants_adopted", pass.grants)
            document.set("codes_named_unknown", pass.codesNamedUnknown)
            document.set("refreshes_named_unknown", pass.refreshesNamedUnknown)
            document.set("revocations_tried", pass.revocations)
            document.set("checkpoints_made", names)
            return CommandOutput(text: jsonDocument(document))
        }
        return CommandOutput(
            text: TextTable.text([
                ["grants taken over", String(pass.grants)],
                ["codes named unknown", String(pass.codesNamedUnknown)],
                ["refreshes named unknown", String(pass.refreshesNamedUnknown)],
                ["revocations tried", String(pass.revocations)],
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
