// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeCurl
import Testing

@testable import ProviderClients

@Suite("A provider that answers a wrong secret as it answers a dead refresh token", .timeLimit(.minutes(1)))
struct ConfirmedDeathTests {
    private static let wordless = ScriptedProvider.Reaction.json("400 Bad Request", "")

    @Test(
        "a grant is called dead only once a code that cannot be valid has shown that the secret is taken",
        arguments: [
            (ScriptedProvider.Reaction.json("403 Forbidden", #"{"error":"invalid_code"}"#), "rejected"),
            (.json("403 Forbidden", #"{"error":"unauthorized_client"}"#), "credentials refused"),
            (.json("401 Unauthorized", ""), "credentials refused"),
            (.json("503 Service Unavailable", ""), "request refused"), (.answerAndClose(""), "request refused"),
            (.json("200 OK", #"{"access_token":"A1"}"#), "request refused"),
            (.json("400 Bad Request", ""), "request refused"),
        ])
    func confirmed(reaction: ScriptedProvider.Reaction, name: String) async throws {
        let provider = ScriptedProvider([Self.wordless, reaction, reaction, reaction, reaction, reaction, reaction])
        #expect(try await refresh(at: provider).name == name)
        let sent = provider.requests
        #expect(sent.first?.contains("refresh_token=R1") == true)
        // That spends nothing: where no answer came, libcurl may send it again.
        #expect(sent.count == 2 || name == "request refused" && sent.count > 2)
        #expect(sent.dropFirst().allSatisfy { $0.contains("code=consent-gateway-probe") && !$0.contains("=R1") })
    }

    @Test("who does not want that is asked once, and so is one who gave tokens or was busy")
    func once() async throws {
        let plain = ScriptedProvider([Self.wordless])
        #expect(try await refresh(at: plain, isConfirmed: false).name == "rejected")
        for (reaction, name) in [
            (ScriptedProvider.Reaction.json("200 OK", #"{"access_token":"A1"}"#), "granted"),
            (.json("503 Service Unavailable", ""), "throttled"),
        ] {
            let provider = ScriptedProvider([reaction])
            #expect(try await refresh(at: provider).name == name)
            #expect(provider.requests.count == 1)
        }
        #expect(plain.requests.count == 1)
    }

    private func refresh(at provider: ScriptedProvider, isConfirmed: Bool = true) async throws -> TokenOutcome {
        try await provider.serving {
            try await withClient { client in
                var definition = Definitions.payPal(tokenEndpoint: provider.url("/token"))
                definition.answers = Definitions.genericRules
                definition.answers.codeErrors = [Definitions.rule([403], ["invalid_code"], .grantDead)]
                definition.answers.refreshErrors = [
                    ErrorRule(
                        statuses: [400], errors: [], descriptionContains: nil, needsEmptyBody: true,
                        errorClass: .grantDead)
                ]
                definition.answers.isDeathConfirmed = isConfirmed
                let connection = CurlProviderConnection(
                    definition, timekeeper: FixedTime(), order: nil, client: { client })
                return await connection.refresh(SecretText("R1")) { true }
            }
        }
    }
}
