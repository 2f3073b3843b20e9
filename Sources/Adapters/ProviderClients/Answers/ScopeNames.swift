// SPDX-License-Identifier: Apache-2.0
import Consents

/// Which of the names that a token answer gives as scopes are kept. They are shown in records, events and receipts, so a
/// name that was not to be expected is held to what a scope may be (RFC 6749, section 3.3), and must hold nothing of what
/// was sent or came beside it. Leaving one out costs no token.
struct ScopeNames {
    /// The configured scopes and those that the profile knows: taken as they are.
    let expected: Set<String>
    /// What a name may not hold, in any spelling.
    let secrets: [SecretText]

    /// More names than any provider has.
    static let most = 200

    /// - Returns: the names in their order, each once, and whether any was left out.
    func kept(of names: [String]) -> (names: [String], hasLeftOut: Bool) {
        var kept: [String] = []
        kept.reserveCapacity(min(names.count, ScopeNames.most))
        var seen = Set<String>(minimumCapacity: min(names.count, ScopeNames.most))
        var hasLeftOut = false
        var scrubber: Scrubber?
        for name in names where seen.insert(name).inserted {
            guard kept.count < ScopeNames.most, seen.count <= 4 * ScopeNames.most else { return (kept, true) }
            if !expected.contains(name) {
                let wary = scrubber ?? Scrubber(secrets)
                scrubber = wary
                guard ScopeNames.mayBeOne(name), wary.clean(name) == name else {
                    hasLeftOut = true
                    continue
                }
            }
            kept.append(name)
        }
        return (kept, hasLeftOut)
    }

    /// Visible ASCII but `"` and `\`, and no longer than a provider's text may be.
    private static func mayBeOne(_ name: String) -> Bool {
        name.utf8.count <= Scrubber.longest
            && name.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
    }
}
