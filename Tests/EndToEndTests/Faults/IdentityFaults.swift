// SPDX-License-Identifier: Apache-2.0
import SimulatedProvider
import Testing

/// What the gateway makes of one fault in a provider's ID tokens, keys or discovery, where ID tokens are required.
struct IdentityFault: Sendable, CustomTestStringConvertible {
    let name: String
    let exchange: IdentityEnd
    /// Nil where the fault strikes no refresh.
    let refresh: IdentityTrail?

    init(_ name: String, _ exchange: IdentityEnd, refresh: IdentityTrail? = nil) {
        self.name = name
        self.exchange = exchange
        self.refresh = refresh
    }

    var testDescription: String { name }

    var description: FaultDescription? { FaultTable.list.first { $0.name == name } }
}

/// The end of a code.
enum IdentityEnd: Sendable {
    /// 201: a consent of the person, with the profile; its trail is `consent.created`.
    case kept
    /// 422 `id_token_invalid`, with that in `detail`; no record, the tokens set aside.
    case refused(String)
    /// 503 `exchange_pending` as long as it lasts: the tokens are kept, and the same request finds them in the end.
    case pending
    /// 503 `provider_unavailable`, the code unspent.
    case unspent

    var text: String {
        switch self {
        case .kept: "201"
        case .refused(let reason): "422 `id_token_invalid`: \(reason)"
        case .pending: "503 `exchange_pending`, then 200"
        case .unspent: "503 `provider_unavailable`"
        }
    }

    var needsNewConsent: Bool {
        switch self {
        case .refused: true
        case .kept, .pending, .unspent: false
        }
    }
}

/// What the trail tells of the ID token of a refresh. The answer is 200 and the record `active` whatever it was.
enum IdentityTrail: String, Sendable {
    case nothing = ""
    case refused = "security.id_token_refused"
    case otherPerson = "security.provider_subject_changed"

    var text: String { self == .nothing ? "200" : "200, `\(rawValue)`" }
}

enum IdentityFaults {
    static let all = claims + signatures + documents

    private static let claims = [
        IdentityFault("id_token_missing", .refused("the ID token is missing"), refresh: .nothing),
        IdentityFault("id_token_issuer", .refused("iss is another one"), refresh: .refused),
        IdentityFault("id_token_audience", .refused("aud does not name this client"), refresh: .refused),
        IdentityFault(
            "id_token_audiences", .refused("aud names others that are not trusted, and azp is missing"),
            refresh: .refused),
        IdentityFault("id_token_party", .refused("azp is not this client"), refresh: .refused),
        IdentityFault(
            "id_token_subject", .refused("the userinfo's sub is not the ID token's"), refresh: .otherPerson),
        IdentityFault("id_token_subject_missing", .refused("sub is missing"), refresh: .refused),
        IdentityFault("id_token_expired", .refused("exp is past"), refresh: .refused),
        IdentityFault("id_token_early", .refused("nbf is not reached yet"), refresh: .refused),
        IdentityFault("id_token_nonce", .refused("nonce is not the one that was asked with"), refresh: .refused),
        IdentityFault("id_token_nonce_missing", .refused("nonce is missing"), refresh: .nothing),
        IdentityFault("id_token_at_hash", .refused("at_hash does not belong to the access token"), refresh: .refused),
    ]

    private static let signatures = [
        IdentityFault("id_token_kid", .refused("the issuer has no key of that name and kind"), refresh: .refused),
        IdentityFault("id_token_kid_missing", .kept, refresh: .nothing),
        IdentityFault("id_token_key", .refused("the signature does not match"), refresh: .refused),
        IdentityFault("id_token_altered", .refused("the signature does not match"), refresh: .refused),
        IdentityFault("id_token_alg_none", .refused("the token is not signed"), refresh: .refused),
        IdentityFault("id_token_hs256", .refused("the token's algorithm HS256 is not allowed"), refresh: .refused),
        IdentityFault("id_token_crit", .refused("the token's header asks for an extension"), refresh: .refused),
        IdentityFault(
            "id_token_embedded_key", .refused("the token's header brings a key of its own"), refresh: .refused),
        IdentityFault("id_token_garbage", .refused("a part of the token is not base64url"), refresh: .refused),
        IdentityFault("keys_rotated", .kept, refresh: .nothing),
    ]

    private static let documents = [
        IdentityFault("jwks_empty", .pending),
        IdentityFault("jwks_page", .pending),
        IdentityFault("jwks_odd", .kept),
        IdentityFault("discovery_issuer", .unspent),
        // What the metadata say of algorithms is told by `check`; what is taken the configuration says.
        IdentityFault("discovery_algorithms", .kept),
    ]
}
