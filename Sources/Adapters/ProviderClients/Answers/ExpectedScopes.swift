// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeSystem

/// The scopes of the last answer that named none but expected ones: they follow from the text alone, and nearly every
/// answer of a provider has the same.
final class ExpectedScopes: Sendable {
    private struct Reading: Sendable {
        var text: String
        var scopes: ScopeSet
    }

    private let last = Locked<Reading?>(nil)

    /// Nil where it is another text. By its bytes: two spellings of a letter make two scopes.
    func scopes(of text: String) -> ScopeSet? {
        last.withLock { last in
            guard let last, last.text.utf8.span.elementsEqual(text.utf8.span) else { return nil }
            return last.scopes
        }
    }

    func keep(_ scopes: ScopeSet, of text: String) { last.withLock { $0 = Reading(text: text, scopes: scopes) } }
}
