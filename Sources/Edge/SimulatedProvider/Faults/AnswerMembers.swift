// SPDX-License-Identifier: Apache-2.0
import NativeJSON

/// The members of a JSON object as text, so that what no JSON library writes can stand among them.
struct AnswerMembers: Sendable {
    /// Each name as it is, each value as JSON text or what is meant for it.
    private(set) var pairs: [(name: String, text: String)]

    init(_ object: JSONValue) {
        pairs = object.members.map { ($0.name, String(decoding: $0.value.serialized(.compact), as: UTF8.self)) }
    }

    /// The member's JSON text.
    subscript(name: String) -> String? { pairs.first { $0.name == name }?.text }

    /// Puts a value in the member's place, else at the end.
    mutating func set(_ name: String, _ text: String) {
        if let index = pairs.firstIndex(where: { $0.name == name }) {
            pairs[index].text = text
        } else {
            pairs.append((name, text))
        }
    }

    mutating func set(_ name: String, _ value: JSONValue) {
        set(name, String(decoding: value.serialized(.compact), as: UTF8.self))
    }

    /// Puts a member before all others, also where there is one of that name.
    mutating func prepend(_ name: String, _ text: String) { pairs.insert((name, text), at: 0) }

    mutating func remove(_ names: String...) { pairs.removeAll { names.contains($0.name) } }

    mutating func rename(_ name: String, _ other: String) {
        if let index = pairs.firstIndex(where: { $0.name == name }) { pairs[index].name = other }
    }

    mutating func reverse() { pairs.reverse() }

    /// The object; a name with a backslash in it is taken to be escaped already.
    var bytes: [UInt8] {
        Array(("{" + pairs.map { "\"\($0.name)\":\($0.text)" }.joined(separator: ",") + "}").utf8)
    }
}

extension SimulatedAnswer {
    /// Changes the members of an answer that is a JSON object; leaves any other as it is.
    mutating func change(_ body: (inout AnswerMembers) -> Void) {
        guard let object = try? JSONValue.parse(self.body, as: .callers), object.kind == .object else { return }
        var members = AnswerMembers(object)
        body(&members)
        self.body = members.bytes
    }

    /// Another content type; nil for none.
    mutating func setType(_ type: String?) {
        fields.removeAll { $0.name.lowercased() == "content-type" }
        if let type { fields.insert(.init("Content-Type", type), at: 0) }
    }
}
