// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCurl
import NativeSystem
import Testing

@testable import ProviderClients

@Suite("A client secret that is being changed", .timeLimit(.minutes(1)))
struct SecretsInOrderTests {
    private static let refused = ScriptedProvider.Reaction.json("401 Unauthorized", #"{"error":"invalid_client"}"#)
    private static let granted = ScriptedProvider.Reaction.json("200 OK", #"{"access_token":"A1","expires_in":900}"#)
    private static let first = "Authorization: Basic SUQ6TkVX"
    private static let second = "Authorization: Basic SUQ6T0xE"

    @Test("the next one is tried where the provider refuses the first by name, and goes first from then on")
    func promoted() async throws {
        let provider = ScriptedProvider([Self.refused, Self.granted, Self.granted, .json("200 OK", "")])
        try await withSecrets(["NEW", "OLD"], at: provider) { connection in
            #expect(await exchange(with: connection)?.granted?.tokens.accessToken == SecretText("A1"))
            #expect(await connection.refresh(SecretText("R1")) { true }.granted != nil)
            guard case .revoked = await connection.revoke(SecretText("R1"), kind: .refreshToken) else {
                Issue.record("not revoked")
                return
            }
        }
        #expect(provider.requests.map(secret) == [Self.first, Self.second, Self.second, Self.second])
        let codes = provider.requests.prefix(2).map { $0.contains("code=the-code") }
        #expect(codes == [true, true], "the refused request had the code in it, and left it unspent")
    }

    @Test(
        "whatever says that our credentials are no good makes the next secret go out",
        arguments: [
            ("400 Bad Request", #"{"error":"unauthorized_client"}"#), ("401 Unauthorized", ""),
            ("401 Unauthorized", "{}"), ("403 Forbidden", ""),
        ])
    func refusals(status: String, body: String) async throws {
        let provider = ScriptedProvider([.json(status, body), Self.granted])
        try await withSecrets(["NEW", "OLD"], at: provider) { connection in
            #expect(await exchange(with: connection)?.granted != nil)
        }
        #expect(provider.requests.map(secret) == [Self.first, Self.second])
    }

    @Test(
        "a 401 or 403 to a revocation does as well, though it names nothing", arguments: ["401 Unauthorized", "403 No"])
    func revocations(status: String) async throws {
        let provider = ScriptedProvider([.json(status, ""), .json("200 OK", "")])
        try await withSecrets(["NEW", "OLD"], at: provider) { connection in
            guard case .revoked = await connection.revoke(SecretText("R1"), kind: .refreshToken) else {
                Issue.record("not revoked")
                return
            }
        }
        #expect(provider.requests.map(secret) == [Self.first, Self.second])
    }

    @Test("what another process has found out is followed, and what this one finds out is told once")
    func shared() async throws {
        let provider = ScriptedProvider([Self.refused, Self.granted, Self.granted, Self.granted])
        let known = Locked<BlindIndex?>(nil)
        let order = SecretOrder(
            digest: { BlindIndex(Array($0.reveal().utf8)) }, first: { known.withLock { $0 } })
        try await withSecrets(["NEW", "OLD"], at: provider, order: order) { connection in
            _ = await exchange(with: connection)
            let proven = connection.takeProvenSecret()
            #expect(proven == BlindIndex(Array("OLD".utf8)))
            #expect(connection.takeProvenSecret() == nil)
            known.withLock { $0 = proven }
            _ = await exchange(with: connection)
            known.withLock { $0 = BlindIndex(Array("NEW".utf8)) }
            _ = await exchange(with: connection)
            #expect(connection.takeProvenSecret() == nil)
        }
        #expect(provider.requests.map(secret) == [Self.first, Self.second, Self.second, Self.first])
    }

    @Test("a secret that the store knows and the configuration does not changes no order")
    func forgotten() async throws {
        let provider = ScriptedProvider([Self.granted])
        let order = SecretOrder(
            digest: { BlindIndex(Array($0.reveal().utf8)) }, first: { BlindIndex(Array("OLDEST".utf8)) })
        try await withSecrets(["NEW", "OLD"], at: provider, order: order) { _ = await exchange(with: $0) }
        #expect(provider.requests.map(secret) == [Self.first])
    }

    @Test(
        "no other answer makes a code or a refresh token go out a second time",
        arguments: [
            ("401 Unauthorized", #"{"error":"invalid_grant"}"#, "rejected"),
            ("403 Forbidden", "<html>no</html>", "request refused"),
            ("400 Bad Request", #"{"error":"invalid_grant"}"#, "rejected"),
            ("400 Bad Request", #"{"error":"invalid_request"}"#, "rejected"),
            ("500 Internal Server Error", #"{"error":"invalid_client"}"#, "unknown: serverError"),
            ("429 Too Many Requests", "", "throttled"), ("200 OK", "{}", "unreadable"),
        ])
    func others(status: String, body: String, name: String) async throws {
        let provider = ScriptedProvider([.json(status, body), Self.granted])
        try await withSecrets(["NEW", "OLD"], at: provider) { connection in
            #expect(await exchange(with: connection)?.name == name)
        }
        #expect(provider.requests.count == 1)
    }

    @Test("where all are refused that is the outcome, each has been tried once, and the order stays")
    func allRefused() async throws {
        let provider = ScriptedProvider([Self.refused, Self.refused, Self.granted])
        try await withSecrets(["NEW", "OLD"], at: provider) { connection in
            #expect(await exchange(with: connection)?.name == "credentials refused")
            #expect(await connection.refresh(SecretText("R1")) { true }.granted != nil)
        }
        #expect(provider.requests.map(secret) == [Self.first, Self.second, Self.first])
    }

    @Test("a fence that has closed meanwhile keeps the second request from going out")
    func fenced() async throws {
        let provider = ScriptedProvider([Self.refused, Self.granted])
        try await withSecrets(["NEW", "OLD"], at: provider) { connection in
            let outcome = await connection.refresh(SecretText("R1")) { provider.requests.isEmpty }
            #expect(outcome.name == "not sent: fenced")
        }
        #expect(provider.requests.count == 1)
    }

    @Test("secrets that are read again are tried in their own order")
    func readAgain() async throws {
        let provider = ScriptedProvider([Self.refused, Self.granted, Self.granted])
        try await withSecrets(["NEW", "OLD"], at: provider) { connection in
            _ = await exchange(with: connection)
            connection.take(["NEW", "NEWER"].map { .basic(secret: SecretText($0), encoding: .rfc6749) })
            _ = await exchange(with: connection)
        }
        #expect(provider.requests.map(secret) == [Self.first, Self.second, Self.first])
    }

    private func exchange(with connection: CurlProviderConnection) async -> TokenOutcome? {
        guard let code = AuthorizationCode("the-code") else { return nil }
        let sdk = ExchangeParameters(isSDKCode: true, redirectURI: nil, codeVerifier: nil)
        return await connection.exchange(code, sdk)
    }

    private func secret(_ request: String) -> String {
        request.split(separator: "\r\n").first { $0.hasPrefix("Authorization") }.map(String.init) ?? ""
    }

    private func withSecrets(
        _ secrets: [String], at provider: ScriptedProvider, order: SecretOrder? = nil,
        _ body: @Sendable (CurlProviderConnection) async throws -> Void
    ) async throws {
        try await provider.serving {
            try await withClient { client in
                var definition = Definitions.payPal(
                    tokenEndpoint: provider.url("/token"), revocationEndpoint: provider.url("/revoke"))
                definition.authentications = secrets.map { .basic(secret: SecretText($0), encoding: .rfc6749) }
                try await body(
                    CurlProviderConnection(definition, timekeeper: FixedTime(), order: order, client: { client }))
            }
        }
    }
}
