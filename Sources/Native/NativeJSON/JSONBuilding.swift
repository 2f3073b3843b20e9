// SPDX-License-Identifier: Apache-2.0
internal import CJansson

extension JSONValue {
    package static var null: JSONValue { unsafe JSONValue(owning: json_null()) }

    /// An empty object.
    package static func object() -> JSONValue { unsafe made(json_object()) }

    /// An array of those elements.
    package static func array(_ elements: [JSONValue] = []) -> JSONValue {
        var value = unsafe made(json_array())
        for element in elements { value.append(element) }
        return value
    }

    package init(_ text: String) { self = unsafe Self.made(Self.node(of: text)) }

    package init(_ number: Int64) { self = unsafe Self.made(json_integer(json_int_t(number))) }

    /// A number with 17 significant digits; null where it is not finite, which JSON cannot say.
    package init(_ number: Double) { self = number.isFinite ? unsafe Self.made(json_real(number)) : .null }

    package init(_ truth: Bool) { unsafe self.init(owning: truth ? json_true() : json_false()) }

    /// Puts a member at the end, or a new value in the place of the member of that name.
    /// Precondition: the value is an object.
    package mutating func set(_ name: String, _ value: JSONValue) { unsafe put(json_incref(value.node), as: name) }

    /// Most members are texts; they need no document of their own on the way.
    package mutating func set(_ name: String, _ text: String) { unsafe put(Self.node(of: text), as: name) }

    package mutating func set(_ name: String, _ value: some JSONConvertible) { set(name, value.json) }

    /// Puts an element at the end. Precondition: the value is an array.
    package mutating func append(_ element: JSONValue) {
        precondition(kind == .array, "an element can be appended to an array only")
        makeUnique()
        Self.check(unsafe json_array_append_new(node, json_incref(element.node)))
    }

    package mutating func append(_ element: some JSONConvertible) { append(element.json) }

    /// Takes over the reference that `member` brings. jansson refuses nil, which is what it gives without memory.
    private mutating func put(_ member: UnsafeMutablePointer<json_t>?, as name: String) {
        precondition(kind == .object, "a member can be set in an object only")
        makeUnique()
        var name = name
        let code = name.withUTF8 { utf8 in
            unsafe utf8.withMemoryRebound(to: CChar.self) {
                unsafe json_object_setn_new_nocheck(node, $0.baseAddress ?? Self.emptyText, $0.count, member)
            }
        }
        Self.check(code)
    }

    private static func node(of text: String) -> UnsafeMutablePointer<json_t>? {
        var text = text
        return text.withUTF8 { utf8 in
            unsafe utf8.withMemoryRebound(to: CChar.self) {
                unsafe json_stringn_nocheck($0.baseAddress ?? emptyText, $0.count)
            }
        }
    }

    /// Copies one level unless this variable holds the only reference to the node.
    private mutating func makeUnique() {
        if isKnownUniquelyReferenced(&document), unsafe document.root == node, unsafe node.pointee.refcount == 1 {
            return
        }
        self = unsafe Self.made(json_copy(node))
    }

    /// jansson gives nothing where there is no memory: the only fault left, and no caller can mend it.
    private static func made(_ node: UnsafeMutablePointer<json_t>?) -> JSONValue {
        guard let node = unsafe node else { preconditionFailure("no memory for a JSON value") }
        return unsafe JSONValue(owning: node)
    }

    private static func check(_ code: Int32) { precondition(code == 0, "no memory for a JSON value") }

    private static var emptyText: UnsafePointer<CChar> {
        let empty: StaticString = ""
        return unsafe UnsafeRawPointer(empty.utf8Start).assumingMemoryBound(to: CChar.self)
    }
}

/// What can stand as a member or element as it is.
package protocol JSONConvertible { var json: JSONValue { get } }

extension JSONValue: JSONConvertible { package var json: JSONValue { self } }
extension String: JSONConvertible { package var json: JSONValue { JSONValue(self) } }
extension Int: JSONConvertible { package var json: JSONValue { JSONValue(Int64(self)) } }
extension Int64: JSONConvertible { package var json: JSONValue { JSONValue(self) } }
extension Double: JSONConvertible { package var json: JSONValue { JSONValue(self) } }
extension Bool: JSONConvertible { package var json: JSONValue { JSONValue(self) } }
extension Optional: JSONConvertible where Wrapped: JSONConvertible {
    package var json: JSONValue {
        // A closure, not a key path: in generic code the runtime would build one for each call.
        map { $0.json } ?? .null
    }
}
extension Array: JSONConvertible where Element: JSONConvertible {
    package var json: JSONValue { .array(map { $0.json }) }
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
