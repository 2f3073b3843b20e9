// SPDX-License-Identifier: Apache-2.0

/// What became of a token once signature and claims were looked at.
package enum IdentityVerdict<Value: Sendable>: Sendable {
    case accepted(Value)
    /// The fault's description is what `detail` says.
    case refused(TokenFault)
    /// It may be good: its algorithm is none that is known here. Nothing that it says is used, and nothing is taken away.
    case cannotVerify(algorithm: String)
    /// The issuer's metadata or keys cannot be had now: nothing is known of the token, and it may be looked at later.
    case unavailable(DocumentFault)

    /// - Parameter check: looks at the claims of a token whose signature is good.
    init(_ verdict: IssuerVerdict, _ check: (VerifiedToken) throws(TokenFault) -> Value) {
        switch verdict {
        case .verified(let token):
            do throws(TokenFault) { self = .accepted(try check(token)) } catch { self = .refused(error) }
        case .invalid(let fault): self = .refused(fault)
        case .cannotVerify(let algorithm): self = .cannotVerify(algorithm: algorithm)
        case .keysUnavailable(let fault): self = .unavailable(fault)
        }
    }
}
