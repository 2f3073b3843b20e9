// SPDX-License-Identifier: Apache-2.0
internal import Consents
internal import NativeJSON

/// `migrate` and `migrate --status`.
package enum MigrationOutput {
    /// - Parameters:
    ///   - found: the version of the store's schema; 0 for an empty store.
    ///   - known: the version that this program wants.
    /// - Returns: status 1 if the store's is older, 4 if it is newer.
    package static func status(found: Int, known: Int, json: Bool) -> CommandOutput {
        if found > known {
            return .failure(StoreFailure.schemaIsNewer(found: found, known: known).description, status: .storeOrKeys)
        }
        let status: ExitStatus = found < known ? .partlyDone : .done
        if json { return CommandOutput(text: jsonDocument(document(found: found, known: known)), status: status) }
        let advice = found < known ? "run 'consent-gateway migrate'" : "nothing to do"
        return CommandOutput(
            text: "The store's schema is version \(found), this program wants \(known): \(advice).\n", status: status)
    }

    /// The schema was brought from one version to another, or was there already.
    package static func applied(from old: Int, to new: Int, json: Bool) -> CommandOutput {
        if json {
            let document: JSONValue = ["from": JSONValue(Int64(old)), "to": JSONValue(Int64(new))]
            return CommandOutput(text: jsonDocument(document))
        }
        let event = old == new ? "is version \(new) already" : "went from version \(old) to \(new)"
        return CommandOutput(text: "The store's schema \(event).\n")
    }

    private static func document(found: Int, known: Int) -> JSONValue {
        [
            "found": JSONValue(Int64(found)), "known": JSONValue(Int64(known)), "up_to_date": JSONValue(found == known),
        ]
    }
}
