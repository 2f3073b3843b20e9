// SPDX-License-Identifier: Apache-2.0
import NativeCurl
import NativeJSON
import TestSupport
import Testing

@testable import EndToEndTests

/// Modules of `oidcc-client-refreshtoken-test-plan`.
@Suite("The refresh plan of the OpenID Foundation's relying-party tests")
struct RefreshPlanTests {
    /// A client whose profiles are too old at once: a refresh asks for the person again.
    private static var client: RegisteredClient {
        var client = RegisteredClient()
        client.lines = ["profile: { max_age: 1ms }"]
        return client
    }

    @Test("oidcc-client-test-refresh-token: a refresh brings tokens, and userinfo is asked with them")
    func refreshed() async throws {
        try await ModuleRun.with(RefreshPlanTests.client) { run in
            let id = try #require(try await run.expectAccepted().id)
            let record = try await run.gateway.refresh(id)
            #expect(record.status == 200 && record.json["status"]?.string == "active")
            #expect(record.json["provider_subject"]?.string == "s-canary-1")
            #expect(record.json["last_refreshed_at"]?.isNull == false)
            let request = try #require(run.requests("/token").last)
            // The kept refresh token, and no scope that could be more than was granted.
            #expect(request.body == "grant_type=refresh_token&refresh_token=refresh-canary-1")
            #expect(request.field("Authorization") == run.requests("/token").first?.field("Authorization"))
            let bearers = run.requests("/userinfo").map { $0.field("Authorization") }
            #expect(bearers == ["Bearer access-canary-1", "Bearer access-canary-2"])
            let security = try await run.gateway.eventTypes(id).filter { $0.hasPrefix("security.") }
            #expect(security.isEmpty)
        }
    }

    @Test("oidcc-client-test-refresh-token-invalid-issuer: another issuer is told of, the tokens are kept")
    func otherIssuer() async throws {
        try await RefreshPlanTests.refused("security.id_token_refused", reason: "iss is ") { claims in
            claims.set("iss", (claims["iss"]?.string ?? "") + "1")
        }
    }

    @Test("oidcc-client-test-refresh-token-invalid-sub: another person is told of, the tokens are kept")
    func otherPerson() async throws {
        try await RefreshPlanTests.refused("security.provider_subject_changed", reason: "sub is another one") {
            claims in
            claims.set("sub", (claims["sub"]?.string ?? "") + "1")
        }
    }

    /// Whoever it is of, no profile is asked for with such tokens, and the record names the person of the consent.
    private static func refused(
        _ event: String, reason: String, _ bend: @escaping @Sendable (inout JSONValue) -> Void
    ) async throws {
        try await ModuleRun.with(client) { run in
            let made = try await run.expectAccepted()
            let id = try #require(made.id)
            run.script.change { $0.bendClaims(bend) }
            let record = try await run.gateway.refresh(id)
            #expect(record.status == 200 && record.json["status"]?.string == "active")
            #expect(record.json["provider_subject"]?.string == "s-canary-1")
            #expect(record.json["profile_fetched_at"] == made.json["profile_fetched_at"])
            #expect(try await run.gateway.eventTypes(id).filter { $0.hasPrefix("security.") } == [event])
            #expect(run.gateway.log.text.contains("the ID token of a refresh is refused; its tokens are kept"))
            #expect(run.gateway.log.text.contains(reason))
            #expect(run.requests("/userinfo").count == 1 && run.requests("/revoke").isEmpty)
            // What came is not lost: the next refresh sends it.
            #expect(try await run.gateway.refresh(id).status == 200)
            #expect(run.requests("/token").last?.body.contains("refresh_token=refresh-canary-2") == true)
        }
    }
}
