// SPDX-License-Identifier: Apache-2.0
import NativeCurl
import NativeJOSE
import NativeJSON
import TestSupport
import Testing

@testable import EndToEndTests

/// One module's way through: a provider of its own, a gateway of its own that is to find that provider by its issuer,
/// and the codes that a person's app brings.
struct ModuleRun: Sendable {
    let script: OpenIDScript
    let gateway: TestGateway
    private let client: RegisteredClient

    /// - Parameters:
    ///   - client: how the gateway is registered with the provider.
    ///   - pem: the key that the provider signs with.
    ///   - told: what is different in its metadata, by its URL.
    ///   - bend: what else is special about the provider, before anybody asks it.
    static func with(
        _ client: RegisteredClient = RegisteredClient(), pem: String = SigningKeys.rsa,
        _ algorithm: JOSEAlgorithm = .rs256, told: (String) -> [String: JSONValue] = { _ in [:] },
        bend: (inout OpenIDScript.Behaviour) -> Void = { _ in },
        _ body: (ModuleRun) async throws -> Void
    ) async throws {
        let script = try OpenIDScript(pem, algorithm)
        defer { script.provider.stop() }
        script.change { behaviour in
            behaviour.claims["aud"] = JSONValue(client.id)
            behaviour.metadata = told(script.url)
            bend(&behaviour)
        }
        try await TestGateway.with(provider: script.url, sections: client.section(issuer: script.url)) {
            gateway async throws in
            try await body(ModuleRun(script: script, gateway: gateway, client: client))
        }
    }

    /// Hands over a code as an app does whose authorization request had a nonce and a code challenge.
    func post(_ code: String = "c-canary-1", subject: String = "user-1") async throws -> TestAnswer {
        let body = """
            {"provider":"acme","subject":"\(subject)","code":"\(code)","code_verifier":"\(RegisteredClient.verifier)",\
            "nonce":"nonce-canary-1"}
            """
        return try await gateway.call(.post(Array(body.utf8)), "/v1/consents")
    }

    /// The provider's requests on that path.
    func requests(_ path: String) -> [ScriptedRequest] {
        script.provider.requests.filter { $0.line.split(separator: " ").dropFirst().first == path[...] }
    }
}

/// A relying party as it is registered with a provider.
struct RegisteredClient: Sendable {
    static let verifier = "verifier-canary-1-of-forty-three-characters-and-more"

    var id = "acme-client"
    var method = "client_secret_basic"
    /// Nil where the method has none.
    var secret: String? = "acme-secret"
    var scopes = "openid, email"
    /// Further lines of the provider's section.
    var lines: [String] = []

    func section(issuer: String) -> String {
        let secret = secret.map { ["client_secret: \"\($0)\""] } ?? []
        let all =
            [
                "issuer: \(issuer)", "client_id: \"\(id)\"", "token_endpoint_auth_method: \(method)",
                "scopes: [\(scopes)]", "redirect_uri: com.acme.app:/cb",
            ] + secret + lines
        return "  acme:\n" + all.map { "    \($0)\n" }.joined()
    }
}

// MARK: What every module is held against

extension ModuleRun {
    /// The code became a consent of the person whom the ID token names, and the provider saw what it must.
    @discardableResult func expectAccepted(_ code: String = "c-canary-1") async throws -> TestAnswer {
        let made = try await post(code)
        #expect(made.status == 201, "\(made.text)")
        #expect(made.json["status"]?.string == "active")
        #expect(made.json["provider_subject"]?.string == "s-canary-1")
        #expect(made.json["profile_status"]?.string == "current")
        #expect(made.json["profile"]?["sub"]?.string == "s-canary-1")
        #expect(try await gateway.eventTypes(made.id) == ["consent.created"])
        expectConformingRequests(code)
        return made
    }

    /// Discovery before anything else, the keys before the person; the code once, the access token in its header only.
    func expectConformingRequests(_ code: String) {
        let lines = script.provider.requests.map(\.line)
        #expect(lines.first == "GET /.well-known/openid-configuration HTTP/1.1")
        func first(_ path: String) -> Int { lines.firstIndex { $0.contains(" \(path) ") } ?? .max }
        #expect(first("/jwks") < first("/userinfo") && first("/token") < first("/userinfo"), "\(lines)")
        #expect(lines.allSatisfy { !$0.contains("canary") && !$0.contains("?") }, "\(lines)")
        let spent = requests("/token").filter { $0.body.contains("code=\(code)&") || $0.body.hasSuffix("code=\(code)") }
        #expect(spent.count == 1)
        guard let token = spent.first else { return }
        #expect(token.line.hasPrefix("POST "))
        #expect(token.field("Content-Type") == "application/x-www-form-urlencoded")
        for part in [
            "grant_type=authorization_code", "redirect_uri=com.acme.app%3A%2Fcb",
            "code_verifier=\(RegisteredClient.verifier)",
        ] {
            #expect(token.body.split(separator: "&").contains(part[...]), "\(part)")
        }
        for userinfo in requests("/userinfo") {
            #expect(userinfo.line == "GET /userinfo HTTP/1.1" && userinfo.body.isEmpty)
            #expect(userinfo.field("Authorization")?.hasPrefix("Bearer access-canary-") == true)
        }
    }

    /// The ID token is refused with that reason, and the same again without the provider being asked; there is no
    /// record, nobody was asked for the person, and the tokens are set aside and not revoked.
    func expectRefused(_ reason: String) async throws {
        for _ in 0..<2 {
            let answer = try await post()
            #expect(answer.status == 422 && answer.code == "id_token_invalid", "\(answer.text)")
            #expect(answer.json["detail"]?.string?.contains(reason) == true, "\(answer.text)")
            #expect(answer.headers["retry-after"] == nil)
        }
        #expect(requests("/token").count == 1)
        #expect(requests("/userinfo").isEmpty && requests("/revoke").isEmpty)
        try await expectNoRecord()
    }

    /// No consent of that person is there, and what came is kept sealed beside the code.
    func expectNoRecord() async throws {
        let list = try await gateway.call(.get, "/v1/consents?subject=user-1")
        #expect(list.json["items"]?.count == 0)
        #expect(gateway.log.text.contains("the identity of a grant is refused; its tokens are set aside"))
        #expect(try IDTokenTests.quarantined(gateway) == 1)
    }
}
