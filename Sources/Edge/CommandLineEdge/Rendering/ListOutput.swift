// SPDX-License-Identifier: Apache-2.0
package import Consents
internal import NativeJSON
internal import RecordRendering

/// `consents list` and `consents events`.
package enum ListOutput {
    /// - Parameters:
    ///   - hasMore: whether there are older records that fit, beyond the limit.
    package static func consents(_ consents: [OpenedConsent], hasMore: Bool, json: Bool) -> CommandOutput {
        if json {
            var document = JSONValue.object()
            document.set("items", consents.map { ConsentJSON.value(of: $0, includingProfile: false) })
            document.set("has_more", hasMore)
            return CommandOutput(text: jsonDocument(document))
        }
        let rows = consents.map { consent in
            let record = consent.record
            return [
                record.id.description, record.status.rawValue,
                record.provider.name + (record.provider.environment.map { " (\($0))" } ?? ""), consent.subject.text,
                record.createdAt.text,
            ]
        }
        let count = "\(consents.count) consent" + (consents.count == 1 ? "" : "s")
        let more = hasMore ? "; there are more: raise --limit" : ""
        return CommandOutput(text: TextTable.text(rows) + count + more + "\n")
    }

    /// Oldest first; as JSON what the API answers.
    package static func events(_ events: [StoredEvent], json: Bool) -> CommandOutput {
        if json { return CommandOutput(text: jsonDocument(EventJSON.list(events))) }
        let rows = events.map { event in
            let draft = event.draft
            let request = draft.requestID.map { " (request \($0))" } ?? ""
            return [
                String(event.sequence), draft.at.text, draft.type.rawValue, "by " + draft.caller + request,
                data(draft.data),
            ]
        }
        return CommandOutput(text: TextTable.text(rows))
    }

    private static func data(_ data: EventData) -> String {
        data.members.map { name, value in
            switch value {
            case .text(let text): "\(name)=\(text)"
            case .integer(let number): "\(name)=\(number)"
            }
        }.joined(separator: " ")
    }
}
