// SPDX-License-Identifier: Apache-2.0
import NativeJSON

/// Discovery, keys and the authorization page of an OpenID provider.
extension Simulation {
    /// OpenID Connect Discovery section 3. Without keys no ID tokens are issued, and no algorithm is named for them.
    var discovery: SimulatedAnswer {
        var document: JSONValue = ["issuer": JSONValue(issuer)]
        document.set("authorization_endpoint", issuer + "/authorize")
        document.set("token_endpoint", issuer + "/token")
        document.set("userinfo_endpoint", issuer + "/userinfo")
        document.set("revocation_endpoint", issuer + "/revoke")
        document.set("jwks_uri", issuer + "/jwks")
        document.set("response_types_supported", ["code"])
        document.set("grant_types_supported", ["authorization_code", "refresh_token"])
        document.set("subject_types_supported", ["public"])
        let algorithms = keys.map { [$0.signing.rawValue] } ?? []
        document.set("id_token_signing_alg_values_supported", algorithms)
        if options.signsUserinfo { document.set("userinfo_signing_alg_values_supported", algorithms) }
        document.set("token_endpoint_auth_methods_supported", ["client_secret_basic", "client_secret_post"])
        document.set("code_challenge_methods_supported", ["S256", "plain"])
        document.set("scopes_supported", options.scopes)
        document.set("authorization_response_iss_parameter_supported", true)
        return SimulatedAnswer(status: 200, json: document)
    }

    /// The key set; without keys where this provider signs nothing.
    var keySet: SimulatedAnswer { SimulatedAnswer(status: 200, json: keys?.json ?? ["keys": []]) }

    /// Consents at once, in the name of `login_hint` or the first person, and sends the browser back with a code
    /// (RFC 6749 section 4.1.2, with `iss` of RFC 9207). A request that cannot be sent back gets a 400.
    mutating func authorize(_ call: SimulatedCall, at now: Int64) -> SimulatedAnswer {
        let query = call.query
        guard query["response_type"] == "code", let redirectURI = query["redirect_uri"], !redirectURI.isEmpty,
            let clientID = query["client_id"], options.clients[clientID] != nil
        else { return Dialect.standard.answer(.requestInvalid("a known client, a redirect_uri and a code, please")) }
        var request = CodeRequest(
            person: query["login_hint"], scopes: query["scope"].map { $0.split(separator: " ").map(String.init) },
            binding: CodeBinding(clientID: clientID, redirectURI: redirectURI))
        if let challenge = query["code_challenge"] {
            request.binding.challenge = query["code_challenge_method"] == "S256" ? .s256(challenge) : .plain(challenge)
        }
        request.nonce = query["nonce"]
        let code = state.issueCode(request, at: now)
        var location = redirectURI + (redirectURI.contains("?") ? "&" : "?") + "code=" + FormPairs.encode(code)
        if let text = query["state"] { location += "&state=" + FormPairs.encode(text) }
        location += "&iss=" + FormPairs.encode(issuer)
        return SimulatedAnswer(status: 302, type: "text/plain", body: []).adding("Location", location)
    }
}
