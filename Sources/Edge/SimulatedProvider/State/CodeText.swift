// SPDX-License-Identifier: Apache-2.0

/// What a code says of itself: `fault:NAME:REST` asks for a fault, `code-for:PERSON:REST` names a person, and the
/// first may stand before the second.
struct CodeText: Equatable, Sendable {
    var fault: Fault?
    var person: String?
    /// Whether it said anything, so that it may work without having been issued.
    var isSelfMade: Bool { fault != nil || person != nil }

    /// - Throws: `FaultError` for a fault that does not exist.
    init(_ text: String) throws(FaultError) {
        var rest = text[...]
        if rest.hasPrefix("fault:") {
            let parts = Self.split(rest)
            fault = try Fault(String(parts[1]), asked: .byCode)
            rest = parts.count > 2 ? parts[2] : ""
        }
        if rest.hasPrefix("code-for:") {
            let parts = Self.split(rest)
            if parts.count == 3, !parts[1].isEmpty { person = String(parts[1]) }
        }
    }

    /// What stands before, between and after the first two colons; the first is there.
    private static func split(_ text: Substring) -> [Substring] {
        text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false).map(
            Substring.init)
    }
}
