// SPDX-License-Identifier: Apache-2.0
import NativeCrypto
import NativeCurl
import NativeJOSE
import NativeJSON
import NativeSystem
import Settings
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("A client that shows a signed assertion")
struct ClientAssertionTests {
    /// A key of that kind in a file, as an operator makes it.
    private static func makeKey(_ arguments: [String], in folder: String, as name: String = "client-key") throws
        -> String
    {
        let path = "\(folder)/\(name).pem"
        try ChildProcess(["/usr/bin/openssl", "genpkey"] + arguments + ["-out", path]).wait()
        return path
    }

    private static let kinds: [(arguments: [String], algorithm: String?, expected: JOSEAlgorithm)] = [
        (["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], nil, .rs256),
        (["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], "PS256", .ps256),
        (["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"], nil, .es256),
    ]

    private static func settings(_ url: String, _ key: String, _ more: [String]) -> String {
        """
          acme:
            token_endpoint: \(url)/token
            userinfo_endpoint: \(url)/userinfo
            revocation_endpoint: \(url)/revoke
            client_id: app 1
            token_endpoint_auth_method: private_key_jwt
            private_key: { file: \(key) }
            scopes: [openid, email]
            id_token: ignored
            pkce: optional
        \(more.map { "    \($0)\n" }.joined())
        """
    }

    @Test(
        "exchange, refresh and revocation each show one of their own, which the published key verifies",
        arguments: kinds.indices)
    func everyCall(_ index: Int) async throws {
        let kind = ClientAssertionTests.kinds[index]
        let script = try PayPalScript()
        let folder = try makeTemporaryFolder(prefix: "consent-gateway-test-", in: "/tmp")
        defer {
            script.provider.stop()
            removeFolder(at: folder)
        }
        let key = try ClientAssertionTests.makeKey(kind.arguments, in: folder)
        let url = script.provider.url
        let more = kind.algorithm.map { ["token_endpoint_auth_signing_alg: \($0)"] } ?? []
        let settings = ClientAssertionTests.settings(url, key, more)
        try await TestGateway.with(provider: url, sections: settings) { gateway in
            let body = CurlMethod.post(Array(#"{"provider":"acme","subject":"u","code":"c"}"#.utf8))
            let made = try await gateway.call(body, "/v1/consents")
            let id = try #require(made.id, "\(made)")
            #expect(try await gateway.refresh(id).status == 200)
            #expect(try await gateway.raw("DELETE", "/v1/consents/\(id)").status == 200)
            blockUntil { script.count(of: .revoke) >= 2 }
            let published = try await gateway.exchange(.get, "/.well-known/jwks.json")
            #expect(published.status == 200)
            let keys = try JSONWebKeySet(document: published.body).keys
            #expect(keys.count == 1)
            let calls = [PayPalScript.Call.exchange, .refresh, .revoke].flatMap { script.requests(of: $0) }
            #expect(calls.count >= 4)
            var identifiers: Set<String> = []
            for request in calls {
                let claims = try ClientAssertionTests.claims(of: request, keys, kind.expected)
                #expect(claims["iss"]?.string == "app 1" && claims["sub"]?.string == "app 1")
                #expect(claims["aud"]?.string == "\(url)/token")
                let (issued, end) = (claims["iat"]?.integer ?? 0, claims["exp"]?.integer ?? 0)
                #expect(end - issued == 60 && abs(issued - wallClockMilliseconds() / 1000) < 60)
                identifiers.insert(claims["jti"]?.string ?? "")
                #expect(request.field("Authorization") == nil)
                #expect(!request.body.contains("client_secret"))
                #expect(request.body.contains("client_id=app+1&"))
            }
            #expect(identifiers.count == calls.count && identifiers.allSatisfy { $0.count == 32 })
            let page = String(decoding: published.body, as: UTF8.self)
            for secret in [#""d":"#, #""p":"#, #""q":"#] { #expect(!page.contains(secret)) }
        }
    }

    /// What a request's assertion claims, once it is verified as the provider would.
    private static func claims(
        of request: ScriptedRequest, _ keys: [JSONWebKey], _ algorithm: JOSEAlgorithm
    ) throws -> JSONValue {
        let type = "client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer"
        #expect(request.body.contains(type))
        let token = try token(of: request)
        let key = try #require(keys.first { $0.id == token.keyID && $0.algorithm == algorithm.rawValue })
        #expect(key.use == "sig" && key.key.verifies(token, as: algorithm))
        return try JSONValue.parse(token.payload, as: .callers)
    }

    @Test("a changed key signs and is published once it is read again; one that cannot sign leaves the old one")
    func changedKey() async throws {
        let script = try PayPalScript()
        let folder = try makeTemporaryFolder(prefix: "consent-gateway-test-", in: "/tmp")
        defer {
            script.provider.stop()
            removeFolder(at: folder)
        }
        let kind = ClientAssertionTests.kinds[2]
        let key = try ClientAssertionTests.makeKey(kind.arguments, in: folder)
        let url = script.provider.url
        let settings = ClientAssertionTests.settings(url, key, [])
        try await TestGateway.with(provider: url, sections: settings) { gateway in
            func exchange(_ code: String) async throws -> [JSONWebKey] {
                let body = CurlMethod.post(Array(#"{"provider":"acme","subject":"u","code":"\#(code)"}"#.utf8))
                #expect([200, 201].contains(try await gateway.call(body, "/v1/consents").status))
                let published = try await gateway.exchange(.get, "/.well-known/jwks.json")
                return try JSONWebKeySet(document: published.body).keys
            }
            func reload() throws {
                let path = gateway.folder + "/gateway.yaml"
                let loaded = try SettingsLoader.load(path: path, environment: [:], options: .whole)
                try gateway.serving.gateway.reload(loaded.settings, environment: [:])
            }
            let first = try await exchange("c1")
            _ = try ClientAssertionTests.makeKey(kind.arguments, in: folder)
            try reload()
            let second = try await exchange("c2")
            #expect(first.count == 1 && second.count == 1 && first[0].id != second[0].id)
            try replaceFile(Array("no key".utf8), at: key, permissions: 0o600)
            #expect(throws: StartFailure.self) { try reload() }
            #expect(try await exchange("c3").map(\.id) == second.map(\.id))
            let requests = script.requests(of: .exchange)
            for (request, keys) in zip(requests, [first, second, second]) {
                _ = try ClientAssertionTests.claims(of: request, keys, .es256)
            }
            #expect(requests.count == 3)
        }
    }

    @Test("while a key is changed both are published; the new one signs, and the old one where that is refused")
    func rotation() async throws {
        let refusesNew = Locked<String?>(nil)
        let script = try PayPalScript { call, _, request in
            guard call == .exchange, let id = refusesNew.withLock({ $0 }) else { return nil }
            let isNew = (try? ClientAssertionTests.token(of: request))?.keyID == id
            return isNew ? .http(401, #"{"error":"invalid_client"}"#) : nil
        }
        let folder = try makeTemporaryFolder(prefix: "consent-gateway-test-", in: "/tmp")
        defer {
            script.provider.stop()
            removeFolder(at: folder)
        }
        let kind = ClientAssertionTests.kinds[2]
        let old = try ClientAssertionTests.makeKey(kind.arguments, in: folder, as: "old-key")
        let key = try ClientAssertionTests.makeKey(kind.arguments, in: folder)
        let url = script.provider.url
        let list = "private_keys: [{ file: \(key) }, { file: \(old) }]"
        let settings = ClientAssertionTests.settings(url, key, [])
            .replacing("private_key: { file: \(key) }", with: list)
        try await TestGateway.with(provider: url, sections: settings) { gateway in
            let published = try await gateway.exchange(.get, "/.well-known/jwks.json")
            let keys = try JSONWebKeySet(document: published.body).keys
            #expect(keys.count == 2 && keys[0].id != keys[1].id)
            func exchange(_ code: String) async throws {
                let body = CurlMethod.post(Array(#"{"provider":"acme","subject":"u","code":"\#(code)"}"#.utf8))
                let answer = try await gateway.call(body, "/v1/consents")
                #expect([200, 201].contains(answer.status), "\(answer.status) \(answer.code ?? "")")
            }
            try await exchange("c1")
            // The provider has not read the set again.
            refusesNew.withLock { $0 = keys[0].id }
            try await exchange("c2")
            let requests = script.requests(of: .exchange)
            let signers = try requests.map { try ClientAssertionTests.token(of: $0).keyID }
            #expect(signers == [keys[0].id, keys[0].id, keys[1].id])
            for request in requests { _ = try ClientAssertionTests.claims(of: request, keys, .es256) }
        }
    }

    private static func token(of request: ScriptedRequest) throws -> CompactJWS {
        let found = request.body.split(separator: "&").filter { $0.hasPrefix("client_assertion=") }
        #expect(found.count == 1)
        return try CompactJWS(String(found.first?.dropFirst("client_assertion=".count) ?? ""))
    }

    @Test("the audience is the issuer where the settings say so, and a key that cannot sign ends the start by name")
    func audienceAndRefusal() async throws {
        let script = try PayPalScript()
        let folder = try makeTemporaryFolder(prefix: "consent-gateway-test-", in: "/tmp")
        defer {
            script.provider.stop()
            removeFolder(at: folder)
        }
        let key = try ClientAssertionTests.makeKey(ClientAssertionTests.kinds[2].arguments, in: folder)
        let url = script.provider.url
        let more = ["issuer: \(url)/op", "assertion_audience: issuer"]
        let settings = ClientAssertionTests.settings(url, key, more)
        try await TestGateway.with(provider: url, sections: settings) { gateway in
            let body = CurlMethod.post(Array(#"{"provider":"acme","subject":"u","code":"c"}"#.utf8))
            #expect(try await gateway.call(body, "/v1/consents").status == 201)
            let published = try await gateway.exchange(.get, "/.well-known/jwks.json")
            let keys = try JSONWebKeySet(document: published.body).keys
            let request = try #require(script.requests(of: .exchange).first)
            #expect(try ClientAssertionTests.claims(of: request, keys, .es256)["aud"]?.string == "\(url)/op")
        }
        let wrong = ClientAssertionTests.settings(url, key, ["token_endpoint_auth_signing_alg: RS256"])
        do {
            try await TestGateway.with(provider: url, sections: wrong) { _ in }
            Issue.record("a key that cannot sign was taken")
        } catch let failure as StartFailure {
            #expect(failure.sentence.hasPrefix("providers.acme.private_key: "))
        }
    }
}
