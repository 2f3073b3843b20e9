// SPDX-License-Identifier: Apache-2.0
package import Consents
package import NativeJSON

/// A consent's audit trail as JSON (contract, section 6).
package enum EventJSON {
    /// `{"items": […], "next_cursor": null}`, oldest first.
    package static func list(_ events: [StoredEvent]) -> JSONValue {
        var json = JSONValue.object()
        json.set("items", events.map(value(of:)))
        json.set("next_cursor", JSONValue.null)
        return json
    }

    /// One event: `seq`, `type`, `at`, `caller`, `request_id`, `data`, `mac`.
    package static func value(of event: StoredEvent) -> JSONValue {
        var data = JSONValue.object()
        for (name, value) in event.draft.data.members {
            switch value {
            case .text(let text): data.set(name, text)
            case .integer(let number): data.set(name, number)
            }
        }
        var json = JSONValue.object()
        json.set("seq", event.sequence)
        json.set("type", event.draft.type.rawValue)
        json.set("at", event.draft.at.text)
        json.set("caller", event.draft.caller)
        json.set("request_id", event.draft.requestID)
        json.set("data", data)
        json.set("mac", Hexadecimal.text(of: event.mac))
        return json
    }
}
