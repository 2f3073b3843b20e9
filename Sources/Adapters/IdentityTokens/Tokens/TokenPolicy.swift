// SPDX-License-Identifier: Apache-2.0
package import NativeJOSE

/// How tokens of one issuer and one kind may be signed. Each kind has rules of its own, so that a token of one kind
/// never passes for another (RFC 8725, section 3.12).
package struct TokenPolicy: Sendable {
    /// What the configuration allows; a key must fit too.
    package var algorithms: Set<JOSEAlgorithm>
    /// The key of HS256; without it HS256 is not allowed, whatever `algorithms` says.
    package var secret: ClientSecretMAC?
    package var types: TypeRule

    package init(algorithms: Set<JOSEAlgorithm>, secret: ClientSecretMAC?, types: TypeRule) {
        self.algorithms = algorithms
        self.secret = secret
        self.types = types
    }

    func allows(_ algorithm: JOSEAlgorithm) -> Bool {
        algorithms.contains(algorithm) && (algorithm.isAsymmetric || secret != nil)
    }
}

/// Which `typ` a token may have in its header (RFC 8725, section 3.11). Compared without regard to case, and with or
/// without `application/` before it (RFC 7515, section 4.1.9).
package enum TypeRule: Sendable, Equatable {
    /// None, or any that names no kind of its own: a type that ends in `+jwt` is refused unless it is one of these.
    case unnamed(or: [String])
    /// This one.
    case exactly(String)

    func allows(_ type: String?) -> Bool {
        switch self {
        case .exactly(let wanted): return type.map { Self.bare($0) == Self.bare(wanted) } ?? false
        case .unnamed(let others):
            guard let type else { return true }
            let bare = Self.bare(type)
            return !bare.hasSuffix("+jwt") || others.contains { Self.bare($0) == bare }
        }
    }

    private static func bare(_ type: String) -> String {
        let lower = String(decoding: type.utf8.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }, as: UTF8.self)
        return lower.hasPrefix("application/") ? String(lower.dropFirst("application/".count)) : lower
    }
}
