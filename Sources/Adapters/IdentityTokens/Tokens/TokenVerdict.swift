// SPDX-License-Identifier: Apache-2.0
package import NativeJOSE

/// What became of verifying one token.
package enum TokenVerdict: Sendable {
    /// Its signature is the issuer's. What it claims is still to be checked.
    case verified(VerifiedToken)
    /// It is not what it should be.
    case invalid(TokenFault)
    /// It may be good, and we cannot tell: its algorithm, or the kind of its key, is none that is known here. The name is
    /// harmless when printed.
    case cannotVerify(algorithm: String)
    /// None of the keys at hand is the one that it names, or can have signed it: newer ones are to be fetched.
    case unknownKey
}

/// A token whose signature was verified.
package struct VerifiedToken: Sendable {
    package let algorithm: JOSEAlgorithm
    package let claims: ClaimSet
}
