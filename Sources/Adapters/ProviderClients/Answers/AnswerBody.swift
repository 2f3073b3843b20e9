// SPDX-License-Identifier: Apache-2.0
import NativeJSON

/// What an answer's body holds, judged by its first byte: providers label bodies wrongly too often for the media type
/// to decide.
enum AnswerBody: Sendable {
    /// A JSON object, or a form as an object of texts (of two members of one name the last counts).
    case members(JSONValue, isForm: Bool)
    /// A page for people.
    case html
    /// Nothing but blanks.
    case empty
    case other

    enum Kind: Sendable, Equatable { case members, html, empty, other }

    init(_ bytes: [UInt8]) {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
        switch text.first(where: { !AnswerBody.isBlank($0) }) {
        case nil: self = .empty
        case 0x3C: self = .html
        case 0x7B:
            if let value = try? JSONValue.parse(bytes, as: .providers), value.kind == .object {
                self = .members(value, isForm: false)
            } else {
                self = .other
            }
        case 0x5B, 0x22: self = .other
        default: self = AnswerBody.form(text)
        }
    }

    var kind: Kind {
        switch self {
        case .members: .members
        case .html: .html
        case .empty: .empty
        case .other: .other
        }
    }

    /// The members; nil for any other body.
    var members: JSONValue? {
        if case .members(let value, _) = self { value } else { nil }
    }

    private static func form(_ text: ArraySlice<UInt8>) -> AnswerBody {
        let trimmed = text.drop(while: isBlank)
        let end = trimmed.lastIndex { !isBlank($0) } ?? trimmed.startIndex
        let body = trimmed[...end]
        // A form has no blank in it; a sentence has.
        guard body.contains(0x3D), !body.contains(where: isBlank) else { return .other }
        var object = JSONValue.object()
        for (name, value) in FormEncoding.decode(body) where !name.utf8.contains(0) { object.set(name, value) }
        return .members(object, isForm: true)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}

extension JSONValue {
    /// A string that holds more than blanks; an integer as its digits. Nil for any other value.
    var filledText: String? {
        if let integer { return String(integer) }
        guard let text = string, text.utf8.contains(where: { $0 > 0x20 }) else { return nil }
        return text
    }
}
