// SPDX-License-Identifier: Apache-2.0
import NativeCrypto
import NativeJSON

extension FaultTable {
    static let idTokenRows: [FaultRow] = [
        .members("id_token_missing", "No ID token, where one is issued.") { members, _ in members.remove("id_token") },
        claims("id_token_issuer", "The ID token's iss has a slash more than the issuer.") { claims, _ in
            claims.set("iss", (claims["iss"] ?? "").dropLast() + "/\"")
        },
        claims("id_token_audience", "The ID token is for another client.") { claims, _ in
            claims.set("aud", #""another-client""#)
        },
        claims("id_token_audiences", "The ID token is for this client and another, without azp.") { claims, _ in
            claims.set("aud", "[\(claims["aud"] ?? ""),\"another-client\"]")
        },
        claims("id_token_party", "The ID token's azp is another client.") { claims, _ in
            claims.set("azp", #""another-client""#)
        },
        claims("id_token_subject", "The ID token's sub is another person's than userinfo's.") { claims, _ in
            claims.set("sub", JSONValue(People.named("somebody-else").userID))
        },
        claims("id_token_subject_missing", "The ID token has no sub.") { claims, _ in claims.remove("sub") },
        claims("id_token_expired", "The ID token's exp is NUMBER seconds ago (3600).", number: 3600) { claims, number in
            claims.set("exp", String(issue(of: claims) - number))
            claims.set("iat", String(issue(of: claims) - number - 60))
        },
        claims("id_token_early", "The ID token's iat and nbf are NUMBER seconds ahead (3600).", number: 3600) {
            claims, number in
            let begin = issue(of: claims) + number
            for (name, time) in [("iat", begin), ("nbf", begin), ("exp", begin + 600)] {
                claims.set(name, String(time))
            }
        },
        claims("id_token_nonce", "The ID token's nonce is another one.") { claims, _ in
            claims.set("nonce", #""another-nonce""#)
        },
        claims("id_token_nonce_missing", "The ID token has no nonce.") { claims, _ in claims.remove("nonce") },
        claims("id_token_at_hash", "The ID token's at_hash is that of another access token.") { claims, _ in
            claims.set("at_hash", JSONValue(Base64.urlSafe.text(of: Array(sha256("another").prefix(16)))))
        },
    ]

    static let idTokenKeyRows: [FaultRow] = [
        token("id_token_kid", "The ID token names a key that is not in the key set.") {
            $0.header.set("kid", #""unknown-key""#)
        },
        token("id_token_kid_missing", "The ID token names no key; the right one has signed it.") {
            $0.header.remove("kid")
        },
        token("id_token_key", "The ID token names the right key, and another one has signed it.") {
            $0.changeSigner(tellsKey: false)
        },
        token("id_token_altered", "A bit of the ID token's signature is another.") { $0.signer = .altered },
        token("id_token_alg_none", "The ID token's alg is none, and nobody has signed it.") {
            $0.header.set("alg", #""none""#)
            $0.signer = .nobody
        },
        token("id_token_hs256", "The ID token's alg is HS256, under the text of the public key.") {
            $0.header.set("alg", #""HS256""#)
            $0.signer = .publicText
        },
        token("id_token_crit", "The ID token's header has an extension that must be understood.") {
            $0.header.set("crit", #"["exp-policy"]"#)
            $0.header.set("exp-policy", #""strict""#)
        },
        token("id_token_embedded_key", "The ID token brings the key along that has signed it.") {
            $0.changeSigner(tellsKey: true)
        },
        .members("id_token_garbage", "The ID token is no JWT.") { members, _ in
            if members["id_token"] != nil { members.set("id_token", #""not.a.jwt""#) }
        },
        FaultRow(
            name: "keys_rotated", sentence: "The ID token is signed with a new key, and the key set holds it alone.",
            number: nil, places: .tokens
        ) { _ in FaultEffect(newKeys: .alone, end: .answer) },
    ]

    static let keySetRows: [FaultRow] = [
        .instead("jwks_empty", "The key set is empty.", at: [.keys]) { _ in
            SimulatedAnswer(status: 200, json: ["keys": []])
        },
        .instead("jwks_page", "200 with an HTML page in place of the key set.", at: [.keys]) { _ in .blockedPage },
        .members("jwks_odd", "The key set holds keys that nobody understands beside the right one.", at: [.keys]) {
            members, _ in
            let odd = #"{"kty":"LATTICE","kid":"a"},7,{"kty":"RSA","use":"enc","kid":"b","n":"AQAB","e":"AQAB"},"#
            members.set("keys", "[" + odd + (members["keys"] ?? "[]").dropFirst())
        },
        .members("discovery_issuer", "Discovery names another issuer.", at: [.discovery]) { members, _ in
            members.set("issuer", #""https://another.example""#)
        },
        .members("discovery_algorithms", "Discovery says that ID tokens are signed HS256 only.", at: [.discovery]) {
            members, _ in members.set("id_token_signing_alg_values_supported", #"["HS256"]"#)
        },
    ]

    /// A fault in what an ID token claims.
    private static func claims(
        _ name: String, _ sentence: String, number: Double? = nil,
        _ change: @escaping @Sendable (inout AnswerMembers, Int64) -> Void
    ) -> FaultRow {
        FaultRow(name: name, sentence: sentence, number: number, places: .tokens) { strike in
            let number = Int64(strike.number)
            return FaultEffect(idTokenBend: { change(&$0.claims, number) }, end: .answer)
        }
    }

    /// A fault in how an ID token is signed.
    private static func token(_ name: String, _ sentence: String, _ bend: @escaping IDTokenBend) -> FaultRow {
        FaultRow(name: name, sentence: sentence, number: nil, places: .tokens) { _ in
            FaultEffect(idTokenBend: bend, end: .answer)
        }
    }

    /// Seconds since 1970 at which the token is issued.
    private static func issue(of claims: AnswerMembers) -> Int64 { claims["iat"].flatMap { Int64($0) } ?? 0 }
}
