// SPDX-License-Identifier: Apache-2.0
internal import CBlocks
internal import CJansson

/// A value on its way into an object or an array: one reference to a `json_t`, without an owner of its own.
///
/// Most of what the house writes is made, put in its place and never looked at again; it needs no ``JSONValue``.
@safe package struct JSONPart: ~Copyable {
    private let node: UnsafeMutablePointer<json_t>

    /// Takes over the reference that `node` brings.
    init(owning node: UnsafeMutablePointer<json_t>) { unsafe self.node = node }

    deinit { unsafe json_decref(node) }

    /// The reference, which the caller owns from here on.
    consuming func release() -> UnsafeMutablePointer<json_t> {
        let released = unsafe node
        discard self
        return unsafe released
    }

    // MARK: Made

    static func object() -> JSONPart {
        takeMemoryFromBlocks()
        return unsafe made(json_object())
    }

    static func array(of elements: [some JSONConvertible]) -> JSONPart {
        takeMemoryFromBlocks()
        let array = unsafe made(json_array())
        for element in elements {
            let part = element.part()
            unsafe part.append(to: array.node)
        }
        return array
    }

    init(_ text: String) {
        takeMemoryFromBlocks()
        self = unsafe Self.made(text.withCharacters { unsafe json_stringn_nocheck($0, $1) })
    }

    init(_ number: Int64) {
        takeMemoryFromBlocks()
        self = unsafe Self.made(json_integer(json_int_t(number)))
    }

    /// Null where it is not finite, which JSON cannot say.
    init(_ number: Double) {
        takeMemoryFromBlocks()
        self = unsafe Self.made(number.isFinite ? json_real(number) : json_null())
    }

    /// jansson gives nothing where there is no memory: the only fault left, and no caller can mend it.
    static func made(_ node: UnsafeMutablePointer<json_t>?) -> JSONPart {
        guard let node = unsafe node else { preconditionFailure("no memory for a JSON value") }
        return unsafe JSONPart(owning: node)
    }

    // MARK: Put in its place

    /// At the end of an object, or in the place of the member of that name.
    consuming func put(as name: String, into object: UnsafeMutablePointer<json_t>) {
        let member = unsafe release()
        let code = unsafe name.withCharacters { unsafe json_object_setn_new_nocheck(object, $0, $1, member) }
        precondition(code == 0, "no memory for a JSON value")
    }

    /// At the end of an array.
    consuming func append(to array: UnsafeMutablePointer<json_t>) {
        let code = unsafe json_array_append_new(array, release())
        precondition(code == 0, "no memory for a JSON value")
    }
}

extension String {
    /// What `body` makes of the text where it lies, and of its length in bytes.
    func withCharacters<Result>(_ body: (UnsafePointer<CChar>, Int) -> Result) -> Result {
        let bytes = utf8.span
        return unsafe bytes.withUnsafeBufferPointer { utf8 in
            unsafe utf8.withMemoryRebound(to: CChar.self) { unsafe body($0.baseAddress ?? Self.noCharacters, $0.count) }
        }
    }

    private static var noCharacters: UnsafePointer<CChar> {
        let empty: StaticString = ""
        return unsafe UnsafeRawPointer(empty.utf8Start).assumingMemoryBound(to: CChar.self)
    }
}

/// A document is hundreds of small blocks, taken at once and given back at once. jansson is told once a process, before
/// it makes or reads the first one (jansson's manual, *Custom Memory Allocation*).
func takeMemoryFromBlocks() { precondition(isMemoryOfBlocks, "jansson has been told where its memory is") }

private let isMemoryOfBlocks: Bool = {
    unsafe json_set_alloc_funcs(cblocks_take, cblocks_give)
    return true
}()
