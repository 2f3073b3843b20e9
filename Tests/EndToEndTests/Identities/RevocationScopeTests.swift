// SPDX-License-Identifier: Apache-2.0
import Consents
import NativeJSON
import NativeSystem
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("A provider where revoking one token ends all of a person's")
struct RevocationScopeTests {
    @Test("the first of two withdrawals ends nothing there, and says so; the last one revokes the tokens of both")
    func held() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        let settings = script.settings("revocation_scope: grant")
        try await TestGateway.with(provider: script.url, sections: settings) { gateway async throws in
            let first = try #require(try await gateway.exchange("c-canary-1", subject: "user-1").id)
            let second = try #require(try await gateway.exchange("c-canary-2", subject: "user-2").id)
            #expect(try await gateway.raw("DELETE", "/v1/consents/\(first)").status == 200)
            try await onOwnThread { blockUntil { gateway.log.text.contains("a revocation waits") } }
            #expect(script.count(of: "/revoke") == 0)
            #expect(try await RevocationScopeTests.outcomes(of: first, gateway) == ["held"])
            #expect(try await gateway.record(first).json["status"]?.string == "revoked")
            #expect(try await gateway.refresh(second).status == 200, "the other one lives")
            #expect(try await gateway.raw("DELETE", "/v1/consents/\(second)").status == 200)
            try await onOwnThread { blockUntil { script.count(of: "/revoke") == 4 } }
            for number in 1...3 {
                let isTold = script.provider.requests.contains { $0.body.contains("token=refresh-canary-\(number)&") }
                // What a refresh replaced lapses.
                #expect(isTold == (number != 2))
            }
        }
    }

    @Test("where a token is all that its revocation ends, nobody waits for anybody")
    func ofToken() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.url, sections: script.settings()) { gateway async throws in
            let first = try #require(try await gateway.exchange("c-canary-1", subject: "user-1").id)
            _ = try await gateway.exchange("c-canary-2", subject: "user-2")
            #expect(try await gateway.raw("DELETE", "/v1/consents/\(first)").status == 200)
            try await onOwnThread { blockUntil { script.count(of: "/revoke") == 2 } }
        }
    }

    private static func outcomes(of id: String, _ gateway: TestGateway) async throws -> [String] {
        try await gateway.events(id).filter { $0.draft.type == .tokenRevocation }.compactMap { event in
            if case .text(let outcome)? = event.draft.data["outcome"] { outcome } else { nil }
        }
    }
}
