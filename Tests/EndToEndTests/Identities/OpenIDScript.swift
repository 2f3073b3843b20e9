// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCrypto
import NativeCurl
import NativeJOSE
import NativeJSON
import NativeSystem
import TestSupport

@testable import GatewayAssembly

/// A provider of OpenID Connect that signs what it says; a test bends it at any time.
final class OpenIDScript: Sendable {
    /// How it behaves, until somebody changes it.
    struct Behaviour: Sendable {
        var key: AssertionKey
        /// What `/jwks` shows; nil is a 503.
        var keys: [JSONValue]?
        /// Nil is a 503.
        var metadata: [String: JSONValue]? = [:]
        /// Header fields of the metadata.
        var fields: [String] = []
        /// Further paths, each with the usual one that it stands for.
        var otherPaths: [String: String] = [:]
        /// What is different in token answers.
        var answer: [String: JSONValue] = [:]
        /// What is different in the claims of ID tokens.
        var claims: [String: JSONValue] = [:]
        /// Claims that are left out of them.
        var withoutClaims: [String] = []
        /// What is sent for the ID token that was made; nil for none.
        var idToken: @Sendable (String) -> String? = { $0 }
        var userinfo: @Sendable (OpenIDScript.Answerer) -> ScriptedReply = { _ in .http(200, OpenIDScript.person()) }
    }

    /// What an answer is made with.
    struct Answerer: Sendable {
        let issuer: String
        let behaviour: Behaviour

        /// `claims` signed as they are, with the issuer and the client beside them.
        func signed(_ claims: JSONValue) -> ScriptedReply {
            var all = claims
            all.set("iss", issuer)
            all.set("aud", "acme-client")
            return .http(200, behaviour.key.sign(all, type: "JWT"), type: "application/jwt")
        }
    }

    let provider: ScriptedProvider
    private let behaviour: Locked<Behaviour>

    init(_ pem: String = SigningKeys.rsa, _ algorithm: JOSEAlgorithm = .rs256) throws {
        let key = try SigningKeys.key(pem, algorithm)
        let behaviour = Locked(Behaviour(key: key, keys: [key.publicJWK]))
        let number = Locked(0)
        provider = try ScriptedProvider { request in
            let now = behaviour.withLock { $0 }
            let answerer = Answerer(issuer: "http://" + (request.field("Host") ?? ""), behaviour: now)
            let path = String(request.line.split(separator: " ").dropFirst().first ?? "")
            switch now.otherPaths[path] ?? path {
            case "/.well-known/openid-configuration": return OpenIDScript.metadata(answerer)
            case "/jwks":
                guard let keys = now.keys else { return .http(503, "") }
                return .http(200, OpenIDScript.text(["keys": .array(keys)]))
            case "/token":
                let count = number.withLock { number in
                    number += 1
                    return number
                }
                return .http(200, OpenIDScript.tokens(count, answerer))
            case "/userinfo": return now.userinfo(answerer)
            case "/revoke": return .http(200, "")
            default: return .http(404, "")
            }
        }
        self.behaviour = behaviour
    }

    var url: String { provider.url }

    func change(_ change: (inout Behaviour) -> Void) { behaviour.withLock { change(&$0) } }

    func count(of path: String) -> Int { provider.requests.count { $0.line.contains(" \(path) ") } }

    static func person(_ subject: String = "s-canary-1") -> String {
        #"{"sub":"\#(subject)","email":"ada@canary.example","email_verified":true}"#
    }

    static func text(_ json: JSONValue) -> String { String(decoding: json.serialized(.compact), as: UTF8.self) }

    private static func metadata(_ answerer: Answerer) -> ScriptedReply {
        guard let changes = answerer.behaviour.metadata else { return .http(503, "") }
        let issuer = answerer.issuer
        var document: JSONValue = [
            "issuer": JSONValue(issuer), "authorization_endpoint": JSONValue(issuer + "/authorize"),
            "token_endpoint": JSONValue(issuer + "/token"), "userinfo_endpoint": JSONValue(issuer + "/userinfo"),
            "jwks_uri": JSONValue(issuer + "/jwks"), "revocation_endpoint": JSONValue(issuer + "/revoke"),
            "scopes_supported": ["openid", "email"], "code_challenge_methods_supported": ["S256"],
            "id_token_signing_alg_values_supported": ["RS256", "ES256", "PS256"],
        ]
        for (name, value) in changes { document.set(name, value) }
        return .http(200, text(document), fields: answerer.behaviour.fields)
    }

    /// As the standard has it, with `at_hash` of the access token.
    private static func tokens(_ number: Int, _ answerer: Answerer) -> String {
        let access = "access-canary-\(number)"
        var answer: JSONValue = [
            "access_token": JSONValue(access), "refresh_token": JSONValue("refresh-canary-\(number)"),
            "token_type": "Bearer", "expires_in": 3600, "scope": "openid email",
        ]
        let seconds = wallClockMilliseconds() / 1000
        let hash = Array(DigestAlgorithm.sha256.digest(of: Array(access.utf8)).prefix(16))
        var claims: JSONValue = [
            "iss": JSONValue(answerer.issuer), "sub": "s-canary-1", "aud": "acme-client",
            "exp": JSONValue(seconds + 600), "iat": JSONValue(seconds), "nonce": "nonce-canary-1",
            "at_hash": JSONValue(Base64.urlSafe.text(of: hash)),
        ]
        for (name, value) in answerer.behaviour.claims { claims.set(name, value) }
        for name in answerer.behaviour.withoutClaims { claims.set(name, .null) }
        let made = answerer.behaviour.key.sign(claims, type: "JWT")
        if let idToken = answerer.behaviour.idToken(made) { answer.set("id_token", idToken) }
        for (name, value) in answerer.behaviour.answer { answer.set(name, value) }
        return text(answer)
    }
}

extension OpenIDScript {
    /// The provider `acme` of a configuration, found by its issuer.
    func settings(_ lines: String...) -> String {
        let further = lines.map { "\n    " + $0 }.joined()
        return """
              acme:
                issuer: \(url)
                client_id: acme-client
                client_secret: acme-secret
                scopes: [openid, email]
                pkce: optional
                redirect_uri: com.acme.app:/cb\(further)
            """
    }

    static func body(_ code: String, subject: String = "user-1", nonce: String? = nil) -> [UInt8] {
        let nonce = nonce.map { #","nonce":"\#($0)""# } ?? ""
        return Array(#"{"provider":"acme","subject":"\#(subject)","code":"\#(code)"\#(nonce)}"#.utf8)
    }
}

extension TestGateway {
    /// Exchanges a code of the provider `acme`.
    func exchange(_ code: String, subject: String = "user-1", nonce: String? = nil) async throws -> TestAnswer {
        try await call(.post(OpenIDScript.body(code, subject: subject, nonce: nonce)), "/v1/consents")
    }

    /// The same until it is answered otherwise than 503, for a person's patience at most.
    func exchangeInTheEnd(_ code: String, subject: String = "user-1") async throws -> TestAnswer {
        let end = serving.place.time.monotonic + .seconds(40)
        while true {
            let answer = try await exchange(code, subject: subject)
            guard answer.status == 503, serving.place.time.monotonic < end else { return answer }
            // As if the time of a trial had come.
            try forgetProviderStates()
            try await serving.place.time.sleep(until: serving.place.time.monotonic + .milliseconds(100))
        }
    }

    func eventTypes(_ id: String?) async throws -> [String] {
        try await events(id ?? "").map(\.draft.type.rawValue)
    }
}
