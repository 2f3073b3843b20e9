// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeJSON

/// What one pass of the scheduled job did.
package struct JobPass: Sendable {
    /// How a pass ended before all was done.
    package enum EarlyEnd: Sendable, Equatable { case interrupted, storeUnavailable }

    /// Grants that ended processes had got and not made consents of.
    package var grants = 0
    /// Codes, then refreshes, that ended processes had on the wire.
    package var codesNamedUnknown = 0
    package var refreshesNamedUnknown = 0
    package var refreshed = 0
    package var refreshesFailed = 0
    package var profilesFetched = 0
    package var profilesFailed = 0
    /// How many deliveries were tried.
    package var revocations = 0
    /// How much of each kind was let go.
    package var retention: [RetentionStep: Int] = [:]
    /// Those that were signed.
    package var checkpoints: [CheckpointName] = []
    /// Providers that could not be asked for all that was due.
    package var providersLeft: [String] = []
    package var early: EarlyEnd?
    /// Where the store is, for people; nil where it is not known.
    package var store: String?

    package init() {}

    /// Refreshes that failed come again in their time; what they make of a grant its record tells.
    fileprivate var status: ExitStatus {
        switch early {
        case .interrupted: .interrupted
        case .storeUnavailable: .storeOrKeys
        case nil: refreshesFailed > 0 || !providersLeft.isEmpty ? .partlyDone : .done
        }
    }

    fileprivate var sentence: String? {
        switch early {
        case .interrupted: "interrupted: the rest is the next pass's"
        case .storeUnavailable: storePlace(store) + "the store is out of reach or busy: the rest is the next pass's"
        case nil: nil
        }
    }
}

/// Begins a sentence with the place of the store, where it is known.
func storePlace(_ store: String?) -> String { store.map { "store.url: \($0): " } ?? "" }

/// `job`: what one pass did.
package enum JobOutput {
    package static func pass(_ pass: JobPass, json: Bool) -> CommandOutput {
        var output = CommandOutput(text: json ? document(pass) : table(pass))
        output.status = pass.status
        if let sentence = pass.sentence {
            output.errors = CommandOutput.failure(sentence, status: pass.status).errors
        }
        return output
    }

    private static func document(_ pass: JobPass) -> String {
        var document = JSONValue.object()
        document.set("grants_adopted", pass.grants)
        document.set("codes_named_unknown", pass.codesNamedUnknown)
        document.set("refreshes_named_unknown", pass.refreshesNamedUnknown)
        document.set("refreshed", pass.refreshed)
        document.set("refreshes_failed", pass.refreshesFailed)
        document.set("profiles_fetched", pass.profilesFetched)
        document.set("profiles_failed", pass.profilesFailed)
        document.set("revocations_tried", pass.revocations)
        document.set("retention", item(pass.retention))
        document.set("checkpoints_made", pass.checkpoints.map(\.description))
        document.set("providers_left", pass.providersLeft)
        return jsonDocument(document)
    }

    private static func table(_ pass: JobPass) -> String {
        let names = pass.checkpoints.map(\.description)
        var rows = [
            ["grants taken over", String(pass.grants)],
            ["codes named unknown", String(pass.codesNamedUnknown)],
            ["refreshes named unknown", String(pass.refreshesNamedUnknown)],
            ["refreshed", text(pass.refreshed, failed: pass.refreshesFailed)],
            ["profiles fetched", text(pass.profilesFetched, failed: pass.profilesFailed)],
            ["revocations tried", String(pass.revocations)],
        ]
        rows += RetentionStep.allCases.map { ["retention: \($0.words)", String(pass.retention[$0] ?? 0)] }
        rows.append(["checkpoints made", ([String(names.count)] + names).joined(separator: "  ")])
        if !pass.providersLeft.isEmpty {
            rows.append(["providers left for later", pass.providersLeft.joined(separator: ", ")])
        }
        return TextTable.text(rows)
    }

    private static func text(_ done: Int, failed: Int) -> String {
        failed == 0 ? String(done) : "\(done), \(failed) failed"
    }

    /// `--dry-run`: what a pass would find.
    package static func dryRun(_ work: WaitingWork, _ retention: [RetentionStep: Int], json: Bool) -> CommandOutput {
        if json {
            var document = JSONValue.object()
            document.set("grants_to_adopt", work.grants)
            document.set("codes_to_name_unknown", work.codesOnTheWire)
            document.set("refreshes_to_name_unknown", work.refreshesOnTheWire)
            document.set("revocations_due", work.revocations.map(item))
            document.set("refreshes_due", work.refreshes.map(item))
            document.set("profiles_pending", work.profiles.map(item))
            document.set("retention", item(retention))
            return CommandOutput(text: jsonDocument(document))
        }
        var rows = [
            ["grants to take over", String(work.grants)],
            ["codes to name unknown", String(work.codesOnTheWire)],
            ["refreshes to name unknown", String(work.refreshesOnTheWire)],
            ["revocations due", text(work.revocations)],
            ["refreshes due", text(work.refreshes)],
            ["profiles pending", text(work.profiles)],
        ]
        rows += RetentionStep.allCases.map { ["retention: \($0.words)", String(retention[$0] ?? 0)] }
        return CommandOutput(text: TextTable.text(rows) + "Nothing was changed or sent.\n")
    }

    private static func item(_ retention: [RetentionStep: Int]) -> JSONValue {
        var item = JSONValue.object()
        for step in RetentionStep.allCases { item.set(step.rawValue, retention[step] ?? 0) }
        return item
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

extension RetentionStep {
    /// What of it is counted.
    fileprivate var words: String {
        switch self {
        case .evidence: "evidence removed"
        case .records: "records erased"
        case .grants: "grants ended"
        case .codes: "codes deleted"
        case .revocations: "revocations deleted"
        case .quarantine: "quarantine emptied"
        }
    }
}
