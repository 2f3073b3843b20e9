// SPDX-License-Identifier: Apache-2.0
import NativeJOSE

/// Which keys of an issuer a token may have been signed with. Nothing but keys of the set is ever tried.
struct KeySelection {
    /// Keys that are tried for one token.
    static let most = 4

    enum Outcome {
        /// 1 to 4, and how many more there are.
        case keys([VerificationKey], untried: Int)
        /// Newer keys may have it.
        case unknown
        /// The key that the token names is there, and of a kind that is not known here.
        case unsupported
        /// The key that the token names is there, and not to be used.
        case unusable
    }

    let set: JSONWebKeySet
    /// Whether the set was fetched for this token: then a key without a name may be the one that the token names. In an
    /// older set it is not, for a newer one may have it by its name.
    let isFresh: Bool

    /// - Parameter keyID: nil where the token names none: then every key that is meant for the algorithm is a candidate.
    func candidates(for algorithm: JOSEAlgorithm, keyID: String?) -> Outcome {
        let meant = set.keys.filter { $0.isMeant(for: algorithm) }
        guard let keyID else { return outcome(meant) }
        let named = meant.filter { $0.id?.isSame(as: keyID) == true }
        if !named.isEmpty { return outcome(named) }
        let further = set.further(named: keyID).filter { $0.isMeant(for: algorithm) }
        if !further.isEmpty { return outcome(further) }
        if let passedOver = set.passedOver.first(where: { $0.id?.isSame(as: keyID) == true }) {
            return passedOver.reason == .unknownKind ? .unsupported : .unusable
        }
        return isFresh ? outcome(meant.filter { $0.id == nil }) : .unknown
    }

    private func outcome(_ keys: [JSONWebKey]) -> Outcome {
        if keys.isEmpty { return .unknown }
        // What its owner says to be for the algorithm goes before what may be.
        let ordered = keys.filter { $0.algorithm != nil } + keys.filter { $0.algorithm == nil }
        return .keys(ordered.prefix(Self.most).map(\.key), untried: max(0, keys.count - Self.most))
    }
}
