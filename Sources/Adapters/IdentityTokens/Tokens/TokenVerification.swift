// SPDX-License-Identifier: Apache-2.0
package import NativeJOSE
import NativeJSON

/// The one way in which a token's signature is verified, for ID tokens, signed userinfo and callers (RFC 7515, RFC 8725).
///
/// Pure: keys are at hand, and the verdict says when others are needed.
package struct TokenVerification: Sendable {
    package let policy: TokenPolicy

    package init(_ policy: TokenPolicy) { self.policy = policy }

    /// - Parameters:
    ///   - keys: the issuer's.
    ///   - keysAreFresh: whether they were fetched for this token, or as good as that: then nothing else is asked for,
    ///     and a token whose key is missing is `invalid`.
    package func verify(_ text: String, with keys: JSONWebKeySet, keysAreFresh: Bool) -> TokenVerdict {
        do throws(TokenFault) {
            let token = try Self.parse(text)
            let header = try TokenHeader(token.header)
            guard policy.types.allows(header.type) else { throw .type }
            guard let algorithm = JOSEAlgorithm(name: header.algorithm) else {
                if ["HS384", "HS512"].contains(header.algorithm) { throw .algorithm(header.algorithm) }
                return .cannotVerify(algorithm: header.shownAlgorithm)
            }
            guard policy.allows(algorithm) else { throw .algorithm(algorithm.rawValue) }
            if algorithm == .hs256 { return try verifyMAC(token) }
            return try verify(token, header, algorithm, KeySelection(set: keys, isFresh: keysAreFresh))
        } catch {
            return .invalid(error)
        }
    }

    /// The token taken apart, of which nothing is verified.
    static func parse(_ text: String) throws(TokenFault) -> CompactJWS {
        do throws(CompactJWSFault) { return try CompactJWS(text) } catch {
            switch error {
            case .tooLong: throw .tooLong
            case .parts: throw .parts
            case .encoding: throw .encoding
            case .header: throw .header
            case .duplicateMember: throw .duplicateMember
            }
        }
    }

    private func verifyMAC(_ token: CompactJWS) throws(TokenFault) -> TokenVerdict {
        guard let secret = policy.secret, secret.verifies(token) else { throw .code }
        return .verified(VerifiedToken(algorithm: .hs256, claims: try ClaimSet(token.payload)))
    }

    private func verify(
        _ token: CompactJWS, _ header: TokenHeader, _ algorithm: JOSEAlgorithm, _ selection: KeySelection
    ) throws(TokenFault) -> TokenVerdict {
        switch selection.candidates(for: algorithm, keyID: header.keyID) {
        case .keys(let keys, let untried):
            guard keys.contains(where: { $0.verifies(token, as: algorithm) }) else {
                throw untried == 0 ? .signature : .signatureOfMany(untried: untried)
            }
            return .verified(VerifiedToken(algorithm: algorithm, claims: try ClaimSet(token.payload)))
        case .unknown:
            if selection.isFresh { throw .unknownKey }
            return .unknownKey
        case .unsupported: return .cannotVerify(algorithm: header.shownAlgorithm)
        case .unusable: throw .unusableKey
        }
    }
}
