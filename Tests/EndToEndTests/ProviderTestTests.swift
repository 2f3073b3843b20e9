// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import NativeSystem
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("provider test, against a provider that is there", .timeLimit(.minutes(1)))
struct ProviderTestTests {
    /// Runs the command with a provider `acme` whose secrets are these.
    private func run(_ url: String, secrets: [String]) async throws -> CommandOutput {
        let folder = try makeTemporaryFolder(prefix: "consent-gateway-test-", in: "/tmp")
        defer { removeFolder(at: folder) }
        let list = secrets.map { "\"\($0)\"" }.joined(separator: ", ")
        try TestGateway.prepare(
            folder,
            """
            store: { url: "sqlite:consents.db" }
            vault: { keys: { file: vault-keys.json } }
            providers:
              acme:
                token_endpoint: \(url)/token
                userinfo_endpoint: \(url)/userinfo
                revocation_endpoint: \(url)/revoke
                client_id: shop
                client_secrets: [\(list)]
                scopes: [openid, email]
                id_token: ignored
                redirect_uri: com.acme.app:/cb
            """)
        let place = try Workplace.open(
            configPath: folder + "/gateway.yaml", environment: [:], loops: 1, sink: MemorySink())
        let output = await ProviderTest(name: "acme", place: place).run(json: false)
        place.close()
        return output
    }

    /// Takes one secret, no code and no token.
    private func provider(taking secret: String) throws -> ScriptedProvider {
        let header = "Basic " + base64("shop:" + secret)
        return try ScriptedProvider { request in
            if request.line.hasPrefix("GET") { return .http(401, #"{"error":"invalid_token"}"#) }
            let shown = request.field("Authorization") ?? ""
            guard shown == header else {
                return .http(401, #"{"error":"invalid_client","error_description":"not \#(shown)"}"#)
            }
            return request.line.contains("/revoke") ? .http(200, "") : .http(400, #"{"error":"invalid_grant"}"#)
        }
    }

    @Test("of two secrets it says which one works, shows neither, and sends each endpoint what cannot be valid")
    func secrets() async throws {
        let provider = try provider(taking: "old-canary")
        defer { provider.stop() }
        let output = try await run(provider.url, secrets: ["new-canary", "old-canary"])
        let lines = output.text.split(separator: "\n").suffix(4).map(String.init)
        #expect(output.status == .done)
        #expect(
            lines[0].hasPrefix(
                "warning  client_secrets, number 1 of 2: token endpoint: \(provider.url)/token was reached and refuses "
                    + "the client's credentials: 401 invalid_client"))
        #expect(
            lines[1] == "ok       client_secrets, number 2 of 2: token endpoint: \(provider.url)/token was reached, "
                + "takes the client's credentials and refuses the code, as it must: 400 invalid_grant")
        #expect(
            lines[2] == "ok       userinfo endpoint: \(provider.url)/userinfo was reached and refuses the token, as it "
                + "must: 401 invalid_token")
        #expect(
            lines[3] == "ok       revocation endpoint: \(provider.url)/revoke was reached and has nothing against a "
                + "token that it does not know")
        let written = ["new-canary", "old-canary", base64("shop:new-canary"), base64("shop:old-canary")]
        for secret in written { #expect(!output.text.contains(secret)) }
        let codes = provider.requests.filter { $0.line.contains("/token") }
        #expect(codes.count == 2 && codes.allSatisfy { $0.body.contains("code=consent-gateway-probe-") })
    }

    @Test("where no secret works that is an error, and so is a provider that is not there")
    func failures() async throws {
        let provider = try provider(taking: "other-canary")
        let url = provider.url
        let refused = try await run(url, secrets: ["new-canary", "old-canary"])
        #expect(refused.status == .partlyDone)
        #expect(refused.text.contains("error    client_secrets, number 1 of 2: token endpoint"))
        #expect(refused.text.contains("error    client_secrets, number 2 of 2: token endpoint"))
        provider.stop()
        let alone = try await run("http://127.0.0.1:1", secrets: ["only-canary"])
        #expect(alone.status == .partlyDone)
        #expect(alone.text.contains("error    token endpoint: http://127.0.0.1:1/token was not reached (connect)"))
        #expect(alone.text.contains("error    userinfo endpoint: http://127.0.0.1:1/userinfo was not reached"))
        #expect(!alone.text.contains("only-canary"))
    }
}

func base64(_ text: String) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    let bytes = Array(text.utf8)
    return stride(from: 0, to: bytes.count, by: 3).map { start in
        let piece = bytes[start..<min(start + 3, bytes.count)]
        let word = (0..<3).reduce(0) { $0 << 8 | (start + $1 < bytes.count ? Int(bytes[start + $1]) : 0) }
        let symbols = (0..<4).map { String(digits[word >> (18 - 6 * $0) & 63]) }
        return symbols.prefix(piece.count + 1).joined() + String(repeating: "=", count: 3 - piece.count)
    }.joined()
}
