// SPDX-License-Identifier: Apache-2.0
import Consents

/// Where one claim of the normal form stands in a provider's userinfo answer.
package struct ClaimRule: Sendable {
    package enum Form: String, Sendable, CaseIterable {
        /// A text, or an integer as its digits.
        case text
        /// `true`, `false`, 1, 0, or the same as text.
        case boolean
        /// An object of the OpenID address members, or a text (then `formatted`).
        case address
        /// A whole number, or the same as text.
        case number
    }

    enum Target: Sendable, Equatable { case claim(ClaimName), address }

    let target: Target
    let paths: [ClaimPath]
    let form: Form

    /// - Parameters:
    ///   - claim: a `ClaimName`, or `address`.
    ///   - from: members in the order in which they are looked for: `user_id`, `name.given`, and
    ///     `emails[primary].value` for the element whose member `primary` is true, else the first one.
    /// - Returns: nil for an unknown claim, a malformed member, or the form `address` with another claim.
    package init?(claim: String, from: [String], form: Form) {
        guard (claim == "address") == (form == .address) else { return nil }
        if claim == "address" {
            target = .address
        } else {
            guard let name = ClaimName(rawValue: claim) else { return nil }
            target = .claim(name)
        }
        let paths = from.compactMap(ClaimPath.init)
        guard !paths.isEmpty, paths.count == from.count else { return nil }
        self.paths = paths
        self.form = form
    }
}

/// The way to a member: names, some of which lead into one element of an array.
struct ClaimPath: Sendable {
    struct Step: Sendable {
        let name: String
        /// The member that must be true in the wanted element.
        let selector: String?
    }
    let steps: [Step]

    /// - Returns: nil where a step is empty or its bracket does not end it.
    init?(_ text: String) {
        var steps: [Step] = []
        for part in text.split(separator: ".", omittingEmptySubsequences: false) {
            let pieces = part.split(separator: "[", omittingEmptySubsequences: false)
            guard let name = pieces.first, !name.isEmpty, pieces.count <= 2 else { return nil }
            var selector: String?
            if pieces.count == 2 {
                guard pieces[1].hasSuffix("]"), pieces[1].count > 1 else { return nil }
                selector = String(pieces[1].dropLast())
            }
            steps.append(Step(name: String(name), selector: selector))
        }
        self.steps = steps
    }
}
