// SPDX-License-Identifier: Apache-2.0

/// Why the provider says no; each of its two dialects has words for it.
enum Refusal: Error, Equatable, Sendable {
    case clientUnknown
    /// The code was never issued, is used up, too old, or another client's.
    case codeDead
    /// The redirect URI or the verifier is not the one of the authorization request (RFC 6749 4.1.3, RFC 7636 4.6).
    case codeBoundElsewhere
    case refreshTokenDead
    case accessTokenDead
    case grantTypeUnsupported
    /// Something that must be there is not, or a fault was named that does not exist.
    case requestInvalid(String)
}
