// SPDX-License-Identifier: Apache-2.0
/// Scopes in the order in which they were written, each once; opaque, case-sensitive and compared as sets
/// (RFC 6749, section 3.3).
package struct ScopeSet: Sendable, Equatable {
    package let names: [String]
    /// The form on the wire and in the store. Made once: a grant's scopes are written several times.
    package let blankSeparated: String

    // An array and no sequence: unspecialized across modules, each step of a sequence is a call that allocates.
    package init(_ names: [String]) {
        var kept: [String] = []
        kept.reserveCapacity(names.count)
        for name in names where !name.isEmpty && !kept.contains(name) { kept.append(name) }
        self.names = kept
        blankSeparated = kept.joined(separator: " ")
    }

    /// The scopes of a blank-separated text, the form on the wire and in the store.
    package init(blankSeparated text: String) { self.init(text.split(separator: " ").map(String.init)) }

    /// Whether a scope is among them, by its exact name.
    package func contains(_ name: String) -> Bool { names.contains(name) }
    package static func == (left: ScopeSet, right: ScopeSet) -> Bool { Set(left.names) == Set(right.names) }
}
