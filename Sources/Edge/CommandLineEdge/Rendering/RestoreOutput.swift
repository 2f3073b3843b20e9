// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeJSON

/// What `restore-check` found, in words of this room.
package struct RestoreFindings: Sendable {
    package var store: EpochMark?
    package var noted: EpochMark?
    package var isBehind: Bool
    package var grants: Int
    package var dueInLostTime: Int
    package var touchedSince: Int
    /// Each with the word for who ended it.
    package var missing: [(id: ConsentID, end: String)]

    package init(
        store: EpochMark?, noted: EpochMark?, isBehind: Bool, grants: Int, dueInLostTime: Int, touchedSince: Int,
        missing: [(id: ConsentID, end: String)]
    ) {
        self.store = store
        self.noted = noted
        self.isBehind = isBehind
        self.grants = grants
        self.dueInLostTime = dueInLostTime
        self.touchedSince = touchedSince
        self.missing = missing
    }

    /// Whether there is nothing to accept.
    package var isInOrder: Bool { !isBehind && missing.isEmpty }
}

/// `restore-check` and `restore-check --accept`.
package enum RestoreOutput {
    /// - Returns: status 1 where the store is behind, or a withdrawal is missing in it.
    package static func report(_ found: RestoreFindings, json: Bool) -> CommandOutput {
        let status: ExitStatus = found.isInOrder ? .done : .partlyDone
        if json { return CommandOutput(text: jsonDocument(document(found)), status: status) }
        var rows = [
            ["store", text(found.store)], ["state_dir", text(found.noted)], ["grants", String(found.grants)],
        ]
        if found.isBehind {
            rows.append(["due in the lost time", String(found.dueInLostTime)])
            rows.append(["changed since", String(found.touchedSince)])
        }
        rows.append(["withdrawals missing", String(found.missing.count)])
        rows += found.missing.map { ["", "\($0.id)  \($0.end)"] }
        return CommandOutput(text: TextTable.text(rows) + verdict(found) + "\n", status: status)
    }

    private static func verdict(_ found: RestoreFindings) -> String {
        if found.isInOrder { return "The store is not behind what was noted: nothing to accept." }
        let stop =
            found.isBehind ? "The store came back from a copy: nothing is refreshed." : "Withdrawals are missing."
        return stop + " 'restore-check --accept' withdraws again\nwhat is missing, and lets refreshing go on."
    }

    /// - Parameters:
    ///   - withdrawn: again, now.
    ///   - failed: could not be withdrawn; then nothing was accepted, and the status is 1.
    package static func accepted(
        _ epoch: StoreEpoch, withdrawn: [ConsentID], failed: [ConsentID], json: Bool
    ) -> CommandOutput {
        if json {
            var document = JSONValue.object()
            document.set("accepted", failed.isEmpty)
            document.set("incarnation", failed.isEmpty ? epoch.incarnation.hexadecimal : nil)
            document.set("epoch", failed.isEmpty ? epoch.number : nil)
            document.set("withdrawn", withdrawn.map(\.description))
            document.set("not_withdrawn", failed.map(\.description))
            return CommandOutput(text: jsonDocument(document), status: failed.isEmpty ? .done : .partlyDone)
        }
        var text = withdrawn.map { "withdrawn again: \($0)\n" }.joined()
        text += failed.map { "could not be withdrawn: \($0)\n" }.joined()
        text +=
            failed.isEmpty
            ? """
            The store is accepted as incarnation \(epoch.incarnation.hexadecimal), epoch \(epoch.number).
            Refreshing goes on: each grant is tried once, and one that is refused needs a new consent.

            """ : "Nothing was accepted: run it again.\n"
        return CommandOutput(text: text, status: failed.isEmpty ? .done : .partlyDone)
    }

    private static func text(_ mark: EpochMark?) -> String {
        mark.map { "incarnation \($0.epoch.incarnation.hexadecimal), epoch \($0.epoch.number), \($0.at.text)" }
            ?? "no epoch yet"
    }

    private static func document(_ found: RestoreFindings) -> JSONValue {
        var document = JSONValue.object()
        document.set("behind", found.isBehind)
        document.set("store", item(found.store))
        document.set("state_dir", item(found.noted))
        document.set("grants", found.grants)
        document.set("due_in_lost_time", found.dueInLostTime)
        document.set("changed_since", found.touchedSince)
        document.set(
            "withdrawals_missing",
            found.missing.map { missing in
                ["consent": JSONValue(missing.id.description), "ended_by": JSONValue(missing.end)] as JSONValue
            })
        return document
    }

    private static func item(_ mark: EpochMark?) -> JSONValue {
        guard let mark else { return .null }
        return [
            "incarnation": JSONValue(mark.epoch.incarnation.hexadecimal), "epoch": JSONValue(mark.epoch.number),
            "at": JSONValue(mark.at.text),
        ]
    }
}
