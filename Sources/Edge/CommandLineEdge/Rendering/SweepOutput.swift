// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeJSON

/// `refresh --due` and `refresh --all`.
package enum SweepOutput {
    /// Why a sweep ended before it had gone through all of them.
    package enum EarlyEnd: Sendable, Equatable {
        case interrupted
        case storeUnavailable
    }

    /// What `refresh ID…` prints; where the sweep ended early, a sentence on that for the standard error.
    /// - Parameter store: where it is, for people.
    package static func summary(_ results: [RefreshResult], early: EarlyEnd?, store: String? = nil, json: Bool)
        -> CommandOutput
    {
        var output = RefreshOutput.summary(results, json: json)
        switch early {
        case nil: break
        case .interrupted:
            output.errors =
                CommandOutput.failure(
                    "interrupted: the consents that are not listed were not begun", status: .interrupted
                ).errors
            output.status = .interrupted
        case .storeUnavailable:
            output.errors =
                CommandOutput.failure(
                    storePlace(store)
                        + "the store is out of reach or busy: the consents that are not listed were not begun",
                    status: .storeOrKeys
                ).errors
            output.status = results.isEmpty || output.status == .storeOrKeys ? .storeOrKeys : .partlyDone
        }
        return output
    }

    /// `--dry-run`: a line a consent that would be refreshed.
    package static func dryRun(_ records: [ConsentRecord], json: Bool) -> CommandOutput {
        if json {
            var document = JSONValue.object()
            document.set("items", records.map(item))
            document.set("would_refresh", records.count)
            return CommandOutput(text: jsonDocument(document))
        }
        let rows = records.map { record in
            [
                record.id.description, record.status.rawValue,
                record.provider.name + (record.provider.environment.map { " (\($0))" } ?? ""),
                record.timing.dueAt.map { "next " + $0.text } ?? "on demand",
            ]
        }
        let count = "\(records.count) consent" + (records.count == 1 ? "" : "s")
        return CommandOutput(text: TextTable.text(rows) + count + " would be refreshed; nothing was sent\n")
    }

    private static func item(_ record: ConsentRecord) -> JSONValue {
        var item = JSONValue.object()
        item.set("id", record.id.description)
        item.set("status", record.status.rawValue)
        item.set("provider", record.provider.name)
        item.set("environment", record.provider.environment)
        item.set("next_refresh_at", record.timing.dueAt?.text)
        return item
    }
}
