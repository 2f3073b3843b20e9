// SPDX-License-Identifier: Apache-2.0
internal import CJansson

extension JSONValue {
    package static var null: JSONValue { unsafe JSONValue(owning: json_null()) }

    /// An empty object.
    package static func object() -> JSONValue { JSONValue(JSONPart.object()) }

    /// An array of those elements.
    package static func array(_ elements: [JSONValue] = []) -> JSONValue { JSONValue(JSONPart.array(of: elements)) }

    package init(_ text: String) { self.init(JSONPart(text)) }

    package init(_ number: Int64) { self.init(JSONPart(number)) }

    /// A number with 17 significant digits; null where it is not finite, which JSON cannot say.
    package init(_ number: Double) { self.init(JSONPart(number)) }

    package init(_ truth: Bool) { unsafe self.init(owning: truth ? json_true() : json_false()) }

    /// A value of its own of what stands nowhere yet.
    package init(_ part: consuming JSONPart) { unsafe self.init(owning: part.release()) }

    /// Puts a member at the end, or a new value in the place of the member of that name.
    /// Precondition: the value is an object.
    package mutating func set(_ name: String, _ value: some JSONConvertible) { put(value.part(), as: name) }

    // What most members are, said once more without a type parameter: a generic call costs as much as the member.
    package mutating func set(_ name: String, _ text: String) { put(JSONPart(text), as: name) }
    package mutating func set(_ name: String, orNull text: String?) { put(text.part(), as: name) }
    package mutating func set(_ name: String, _ texts: [String]) { put(JSONPart.array(of: texts), as: name) }
    package mutating func set(_ name: String, _ value: JSONValue) { put(value.part(), as: name) }

    private mutating func put(_ member: consuming JSONPart, as name: String) {
        precondition(kind == .object, "a member can be set in an object only")
        makeUnique()
        unsafe member.put(as: name, into: node)
    }

    /// Puts an element at the end. Precondition: the value is an array.
    package mutating func append(_ element: some JSONConvertible) {
        precondition(kind == .array, "an element can be appended to an array only")
        let part = element.part()
        makeUnique()
        unsafe part.append(to: node)
    }

    /// Copies one level unless this variable holds the only reference to the node.
    private mutating func makeUnique() {
        if isKnownUniquelyReferenced(&document), unsafe document.root == node, unsafe node.pointee.refcount == 1 {
            return
        }
        self = unsafe JSONValue(JSONPart.made(json_copy(node)))
    }
}

/// What can stand as a member or element as it is.
package protocol JSONConvertible {
    /// Made anew, or one reference more to what there is already.
    func part() -> JSONPart
}

extension JSONConvertible {
    package var json: JSONValue { JSONValue(part()) }
}

extension JSONValue: JSONConvertible {
    package func part() -> JSONPart { unsafe JSONPart(owning: json_incref(node)) }
}
extension String: JSONConvertible { package func part() -> JSONPart { JSONPart(self) } }
extension Int: JSONConvertible { package func part() -> JSONPart { JSONPart(Int64(self)) } }
extension Int64: JSONConvertible { package func part() -> JSONPart { JSONPart(self) } }
extension Double: JSONConvertible { package func part() -> JSONPart { JSONPart(self) } }
extension Bool: JSONConvertible {
    package func part() -> JSONPart { unsafe JSONPart(owning: self ? json_true() : json_false()) }
}
extension Optional: JSONConvertible where Wrapped: JSONConvertible {
    package func part() -> JSONPart {
        guard let self else { return unsafe JSONPart(owning: json_null()) }
        return self.part()
    }
}
extension Array: JSONConvertible where Element: JSONConvertible {
    package func part() -> JSONPart { JSONPart.array(of: self) }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    package init(stringLiteral value: String) { self.init(value) }
}
extension JSONValue: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int64) { self.init(value) }
}
extension JSONValue: ExpressibleByFloatLiteral {
    package init(floatLiteral value: Double) { self.init(value) }
}
extension JSONValue: ExpressibleByBooleanLiteral {
    package init(booleanLiteral value: Bool) { self.init(value) }
}
extension JSONValue: ExpressibleByNilLiteral {
    package init(nilLiteral: ()) { self = .null }
}
extension JSONValue: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}
extension JSONValue: ExpressibleByDictionaryLiteral {
    /// An object with the members in the order they are written.
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object()
        for (name, value) in elements { set(name, value) }
    }
}
