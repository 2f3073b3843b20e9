// SPDX-License-Identifier: Apache-2.0
internal import Consents

/// An event's canonical text as it is put together without a tree of JSON values: nearly every event is of plain texts,
/// which JSON writes as they are. A tree of ten values, and each character of it looked at by itself, cost more than
/// anything else that an exchange does in the store.
///
/// What has to be escaped is not written here: whoever finds ``isPlain`` false takes JSON's own way (RFC 8259, section 7).
struct CanonicalText {
    private(set) var bytes: [UInt8] = []
    /// Whether every text was written as JSON writes it.
    private(set) var isPlain = true

    init(_ draft: EventDraft, of id: ConsentID, sequence: Int64) {
        bytes.reserveCapacity(1024)
        add("{\"at\":")
        add(draft.at.milliseconds)
        add(",\"caller\":")
        addText(draft.caller)
        add(",\"consent\":")
        addText(id.description)
        add(",\"data\":")
        addData(draft.data)
        if let requestID = draft.requestID {
            add(",\"request_id\":")
            addText(requestID)
        }
        add(",\"seq\":")
        add(sequence)
        add(",\"type\":")
        addText(draft.type.rawValue)
        add("}")
    }

    private mutating func addData(_ data: EventData) {
        var separator = "{"
        for (name, value) in data.members {
            add(separator)
            separator = ","
            addText(name)
            add(":")
            switch value {
            case .text(let text): addText(text)
            case .integer(let number): add(number)
            }
        }
        add(data.isEmpty ? "{}" : "}")
    }

    private mutating func add(_ syntax: String) { bytes.append(contentsOf: syntax.utf8) }

    private mutating func add(_ number: Int64) { add(String(number)) }

    private mutating func addText(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        let start = bytes.count
        add(text)
        if holdsEscaped(bytes.span.extracting(start..<bytes.count)) { isPlain = false }
        bytes.append(UInt8(ascii: "\""))
    }
}

/// Whether there is a byte that JSON does not write as it is.
private func holdsEscaped(_ text: Span<UInt8>) -> Bool {
    var found: UInt8 = 0
    // Without an early end, so that many are looked at in one step.
    for index in text.indices {
        let byte = text[index]
        found |= byte < 0x20 ? 1 : 0
        found |= byte == UInt8(ascii: "\"") ? 1 : 0
        found |= byte == UInt8(ascii: "\\") ? 1 : 0
    }
    return found != 0
}
