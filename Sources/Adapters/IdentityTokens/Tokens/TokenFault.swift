// SPDX-License-Identifier: Apache-2.0
import Consents

/// Why a token is refused; its description is what `detail` says. It holds no
/// part of a token: a provider may have put into it what was sent in confidence.
package enum TokenFault: Error, Sendable, Equatable {
    // MARK: Form (RFC 7515; RFC 8725, section 3)

    case tooLong
    /// Not three parts.
    case parts
    case encoding
    case header
    case payload
    case duplicateMember
    /// `alg` is `none`.
    case unsigned
    /// One that we could verify, and that is not allowed here; by its registered name.
    case algorithm(String)
    /// `jwk`, `jku`, `x5u` or `x5c` in the header: a key that the sender chose.
    case embeddedKey
    /// `crit`, or `b64` (RFC 7797).
    case extended
    /// `typ` says that it is a token of another kind.
    case type

    // MARK: Key and signature

    /// No key that may have made it has.
    case signature
    /// None of those that were tried, and there are so many more.
    case signatureOfMany(untried: Int)
    /// A MAC that none of the client's secrets has made.
    case code
    /// Also after the keys were fetched anew.
    case unknownKey
    /// The key that it names is an RSA key of fewer than 2,048 bits, or malformed.
    case unusableKey

    // MARK: Claims

    /// A claim that must be there is not.
    case missing(TokenClaim)
    /// A claim is of another JSON type, or beyond its bounds.
    case malformed(TokenClaim)
    /// - isAlmost: but for a slash at the end, or the case of letters, it is the one.
    case issuer(expected: String, isAlmost: Bool)
    /// The client is not among the audiences.
    case audience
    /// There are other audiences, which are neither trusted nor told apart by `azp`.
    case untrustedAudience
    case authorizedParty
    case expired
    case notYetValid
    case issuedInFuture
    /// Another one than was asked with.
    case nonce
    case accessTokenHash
    /// The person has signed in longer ago than asked.
    case authenticationTooOld
    /// Another person than before, or than the ID token says.
    case subject
    /// `exp` is further away than allowed.
    case lifetime
    /// `cnf` (RFC 7800): it is of use only to whoever proves to have a key, which nobody can here.
    case boundToKey

    /// Whether keys were tried and none has made it.
    var isOfSignature: Bool {
        switch self {
        case .signature, .signatureOfMany: true
        default: false
        }
    }

    /// Whether other keys could change it; one that was published broken is published again.
    var isOfKeys: Bool { isOfSignature || self == .unknownKey || self == .unusableKey }

    static func issuer(_ expected: String, _ found: String) -> TokenFault {
        func core(_ name: String) -> String { (name.hasSuffix("/") ? String(name.dropLast()) : name).lowercased() }
        return .issuer(expected: expected, isAlmost: core(expected) == core(found))
    }
}

/// The claims that are looked at.
package enum TokenClaim: String, Sendable {
    case iss, sub, aud, azp, exp, nbf, iat, nonce, cnf
    case atHash = "at_hash"
    case authTime = "auth_time"
    /// The one that the configuration names for the person.
    case configuredSubject = "subject_claim"
}

extension TokenFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLong: "the token is longer than 64 KiB"
        case .parts: "the token has not three parts"
        case .encoding: "a part of the token is not base64url"
        case .header: "the token's header is no JSON object that can be read"
        case .payload: "the token's claims are no JSON object that can be read"
        case .duplicateMember: "a name stands twice in the token"
        case .unsigned: "the token is not signed"
        case .algorithm(let name): "the token's algorithm \(name) is not allowed"
        case .embeddedKey: "the token's header brings a key of its own"
        case .extended: "the token's header asks for an extension"
        case .type: "the token's typ says that it is of another kind"
        case .signature, .code: "the signature does not match"
        case .signatureOfMany(let untried):
            "the signature does not match the first \(KeySelection.most) keys of its kind, and \(untried) more were not tried"
        case .unknownKey: "the issuer has no key of that name and kind"
        case .unusableKey: "the key that the token names is too weak or broken"
        case .missing(let claim): "\(claim.rawValue) is missing"
        case .malformed(let claim): "\(claim.rawValue) cannot be read"
        case .issuer(let expected, isAlmost: true):
            "iss is not \(expected), byte for byte: it differs by a slash at the end or the case of letters"
        case .issuer(let expected, isAlmost: false): "iss is not \(expected)"
        case .audience: "aud does not name this client"
        case .untrustedAudience: "aud names others that are not trusted, and azp is missing"
        case .authorizedParty: "azp is not this client"
        case .expired: "exp is past"
        case .notYetValid: "nbf is not reached yet"
        case .issuedInFuture: "iat is in the future"
        case .nonce: "nonce is not the one that was asked with"
        case .accessTokenHash: "at_hash does not belong to the access token"
        case .authenticationTooOld: "auth_time is longer ago than asked"
        case .subject: "sub is another one than before"
        case .lifetime: "exp is further away than allowed"
        case .boundToKey: "cnf binds the token to a key, and nobody can prove here to have it"
        }
    }
}
