// SPDX-License-Identifier: Apache-2.0
internal import CJansson

extension JSONValue {
    /// The seven kinds of value that jansson tells apart.
    package enum Kind: Sendable, Equatable { case object, array, string, integer, real, boolean, null }

    package var kind: Kind {
        switch unsafe node.pointee.type {
        case JSON_OBJECT: .object
        case JSON_ARRAY: .array
        case JSON_STRING: .string
        case JSON_INTEGER: .integer
        case JSON_REAL: .real
        case JSON_TRUE, JSON_FALSE: .boolean
        default: .null
        }
    }

    /// The member of that name; nil where there is none or this is no object.
    package subscript(name: String) -> JSONValue? {
        guard kind == .object else { return nil }
        guard let found = unsafe name.withCharacters({ unsafe json_object_getn(node, $0, $1) }) else { return nil }
        return unsafe JSONValue(found, in: document)
    }

    /// The element at that index; nil where there is none or this is no array.
    package subscript(index: Int) -> JSONValue? {
        guard kind == .array, index >= 0, let found = unsafe json_array_get(node, index) else { return nil }
        return unsafe JSONValue(found, in: document)
    }

    /// How many members or elements; 0 for anything else.
    package var count: Int {
        switch kind {
        case .object: unsafe json_object_size(node)
        case .array: unsafe json_array_size(node)
        default: 0
        }
    }

    /// The text of a string, which may contain U+0000; nil for any other kind.
    package var string: String? { unsafe withUTF8 { unsafe String(decoding: $0, as: UTF8.self) } }

    /// The UTF-8 bytes of a string, unescaped; nil for any other kind.
    package var bytes: [UInt8]? { unsafe withUTF8 { unsafe Array($0) } }

    private func withUTF8<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        guard kind == .string, let start = unsafe json_string_value(node) else { return nil }
        return unsafe body(UnsafeRawBufferPointer(start: start, count: json_string_length(node)))
    }

    /// An integer as written without fraction or exponent; nil for any other kind (`1.0` is a `real`).
    package var integer: Int64? { kind == .integer ? unsafe Int64(json_integer_value(node)) : nil }

    /// A number with fraction or exponent, or an integer as the nearest `Double`; always finite.
    package var real: Double? {
        switch kind {
        case .integer, .real: unsafe json_number_value(node)
        default: nil
        }
    }

    package var boolean: Bool? { kind == .boolean ? unsafe node.pointee.type == JSON_TRUE : nil }

    package var isNull: Bool { kind == .null }

    /// Whether a member at any depth has a name, handed over as UTF-8, that `isSought` takes.
    package func holdsName(_ isSought: (Span<UInt8>) -> Bool) -> Bool {
        var waiting = unsafe [UnsafeMutablePointer<json_t>]()
        unsafe waiting.reserveCapacity(16)
        unsafe waiting.append(node)
        while let value = unsafe waiting.popLast() {
            for index in 0..<(unsafe json_array_size(value)) {
                if let element = unsafe json_array_get(value, index) { unsafe waiting.append(element) }
            }
            var position = unsafe json_object_iter(value)
            while let here = unsafe position {
                if let key = unsafe json_object_iter_key(here) {
                    let name = unsafe UnsafeRawBufferPointer(start: key, count: json_object_iter_key_len(here))
                    if unsafe name.withMemoryRebound(to: UInt8.self, { unsafe isSought($0.span) }) { return true }
                }
                if let member = unsafe json_object_iter_value(here) { unsafe waiting.append(member) }
                unsafe position = json_object_iter_next(value, here)
            }
        }
        return false
    }

    /// The elements of an array; nil for any other kind.
    package var array: [JSONValue]? { kind == .array ? (0..<count).compactMap { self[$0] } : nil }

    /// The members of an object in the order of the document; empty for any other kind.
    package var members: JSONMembers { JSONMembers(of: self) }
}

/// The members of one object, first to last.
@safe package struct JSONMembers: Sequence, IteratorProtocol {
    private let object: JSONValue
    private var position: UnsafeMutableRawPointer?

    init(of object: JSONValue) {
        self.object = object
        unsafe position = object.kind == .object ? json_object_iter(object.node) : nil
    }

    package mutating func next() -> (name: String, value: JSONValue)? {
        guard let here = unsafe position, let key = unsafe json_object_iter_key(here),
            let value = unsafe json_object_iter_value(here)
        else { return nil }
        let utf8 = unsafe UnsafeRawBufferPointer(start: key, count: json_object_iter_key_len(here))
        unsafe position = json_object_iter_next(object.node, here)
        return unsafe (String(decoding: utf8, as: UTF8.self), JSONValue(value, in: object.document))
    }
}
