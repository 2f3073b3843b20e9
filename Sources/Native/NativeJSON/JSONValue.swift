// SPDX-License-Identifier: Apache-2.0
internal import CJansson

/// One JSON value with the document that it stands in: a value type over jansson's `json_t`.
///
/// Reading copies nothing but what is asked for; a member keeps its whole document alive, so copy out
/// (`string`, `integer`) what must outlive a large body. A change (`set`, `append`) copies first when the value
/// is shared, so two variables never see each other's changes.
@safe package struct JSONValue: Sendable {
    var document: JSONDocument
    nonisolated(unsafe) var node: UnsafeMutablePointer<json_t>

    /// A value that owns the reference `node` brings.
    init(owning node: UnsafeMutablePointer<json_t>) {
        unsafe self.document = JSONDocument(owning: node)
        unsafe self.node = node
    }

    /// A value inside a document that somebody else owns.
    init(_ node: UnsafeMutablePointer<json_t>, in document: JSONDocument) {
        self.document = document
        unsafe self.node = node
    }
}

/// The one owner of a reference to a `json_t` tree.
///
/// Unchecked: a tree is changed only through a value that holds the one reference to it (`JSONValue.makeUnique`);
/// jansson counts its references atomically, and reading is safe from any thread.
@safe final class JSONDocument: @unchecked Sendable {
    let root: UnsafeMutablePointer<json_t>

    init(owning root: UnsafeMutablePointer<json_t>) { unsafe self.root = root }

    deinit { unsafe json_decref(root) }
}

extension JSONValue: Equatable {
    /// Whether both are the same JSON value: members in any order, integers and reals distinct.
    package static func == (left: JSONValue, right: JSONValue) -> Bool { unsafe json_equal(left.node, right.node) == 1 }
}
