// SPDX-License-Identifier: Apache-2.0
import NativeJSON

/// The way to one value of a JSON document (RFC 6901).
package struct JSONPointer: Sendable, Equatable {
    private let steps: [String]

    /// - Parameter text: `/authed_user/access_token`; `~1` in a step is a slash, `~0` a tilde.
    /// - Returns: nil where it does not begin with a slash, or has another tilde in it.
    package init?(_ text: String) {
        guard text.utf8.first == UInt8(ascii: "/") else { return nil }
        var steps: [String] = []
        for part in text.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            let pieces = part.split(separator: "~", omittingEmptySubsequences: false)
            guard pieces.dropFirst().allSatisfy({ $0.hasPrefix("0") || $0.hasPrefix("1") }) else { return nil }
            let rest = pieces.dropFirst().map { ($0.hasPrefix("0") ? "~" : "/") + $0.dropFirst() }
            steps.append(pieces[0] + rest.joined())
        }
        self.steps = steps
    }

    /// The value there; nil where there is none. A step into an array is its index in decimal digits.
    func value(in document: JSONValue) -> JSONValue? {
        steps.reduce(document) { here, step in
            guard let here else { return nil }
            guard here.kind == .array else { return here[step] }
            guard let index = Int(step), String(index) == step, (0..<here.count).contains(index) else { return nil }
            return here[index]
        }
    }
}
