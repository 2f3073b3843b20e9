// SPDX-License-Identifier: Apache-2.0

/// What a code is to be issued for.
struct CodeRequest: Sendable {
    /// The person's name; nil for the first one.
    var person: String?
    /// Nil for the scopes of the options.
    var scopes: [String]?
    var binding = CodeBinding()
    /// What the ID token is to repeat.
    var nonce: String?
    /// A fault that the code is to ask for when it is redeemed.
    var fault: Fault?
}

/// What whoever redeems a code must show; what is nil is not asked for.
struct CodeBinding: Equatable, Sendable {
    var clientID: String?
    /// Byte for byte the one of the authorization request (RFC 6749 section 4.1.3).
    var redirectURI: String?
    var challenge: Challenge?

    /// A code challenge (RFC 7636 section 4.2).
    enum Challenge: Equatable, Sendable {
        case plain(String)
        /// The base64url text of the SHA-256 of the verifier.
        case s256(String)
    }

    func accepts(_ use: CodeUse) -> Bool {
        if let redirectURI, redirectURI != use.redirectURI { return false }
        return switch challenge {
        case nil: true
        case .plain(let text): use.verifier == text
        case .s256(let text): use.verifierDigest == text
        }
    }
}

/// A code as somebody tries to spend it.
struct CodeUse: Sendable {
    let code: String
    let clientID: String
    var redirectURI: String?
    var verifier: String?
    /// The base64url text of the SHA-256 of `verifier`.
    var verifierDigest: String?
}
