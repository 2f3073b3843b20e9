// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import ConsentUseCases
import Consents
import NativeCurl
import NativeJSON
import NativeSystem
import TestSupport
import Testing

@testable import GatewayAssembly

/// Blame laid on the right thing, through the whole program; how time goes on is told in `ProviderStateTests` and
/// `BlameOverTimeTests`.
@Suite("Blame")
struct BlameTests {
    @Test("a 429 to one process keeps every process from calling, for whatever reason, and every code unspent")
    func gate() async throws {
        let script = try PayPalScript { call, number, _ in
            call == .refresh && number == 1 ? .http(429, "", fields: ["Retry-After: 120"]) : nil
        }
        defer { script.provider.stop() }
        let endpoint = "    revocation_endpoint: \(script.provider.url)/revoke"
        try await TestGateway.inFolder(provider: script.provider.url, providerSettings: endpoint) { folder in
            try await TestGateway.living(in: folder) { first in
                try await TestGateway.living(in: folder) { second in
                    let id = try #require(try await first.post(code: "c1", subject: "u1").id)
                    let other = try #require(try await first.post(code: "c2", subject: "u2").id)
                    #expect(try await first.refresh(id).status == 503)
                    for gateway in [first, second] {
                        for blocked in [
                            try await gateway.refresh(other), try await gateway.refresh(id),
                            try await gateway.post(code: "c3", subject: "u3"),
                        ] {
                            #expect(blocked.status == 503 && blocked.code == "provider_unavailable")
                            let wait = blocked.headers["retry-after"].flatMap { Int($0) } ?? 0
                            #expect((60...121).contains(wait))
                        }
                    }
                    #expect(script.count(of: .refresh) == 1 && script.count(of: .exchange) == 2)
                    #expect(try await second.record(id).json["status"]?.string == "active")
                    let profile = try await second.call(.get, "/v1/consents/\(id)/profile?max_age=0")
                    #expect(profile.status == 200 && profile.json["stale"]?.boolean == true)
                    #expect(try await second.raw("DELETE", "/v1/consents/\(other)").status == 200)
                    for gateway in [first, second] {
                        #expect(try await gateway.serving.gateway.deliverRevocations(limit: 8) == 0)
                    }
                    #expect(script.provider.requests.count == 5, "two codes, two profiles and the refresh")
                    try first.forgetProviderStates()
                    #expect(try await second.post(code: "c3", subject: "u3").status == 201)
                    try await onOwnThread { blockUntil { script.count(of: .revoke) == 2 } }
                }
            }
        }
    }

    @Test("a refused secret pauses the provider and touches no grant; readiness and incidents tell it from the store")
    func pause() async throws {
        let isWrong = Locked(true)
        let script = try PayPalScript { call, _, _ in
            call == .refresh && isWrong.withLock { $0 } ? .http(401, #"{"error":"invalid_client"}"#) : nil
        }
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            var ids: [String] = []
            for number in 0..<20 {
                ids.append(try #require(try await gateway.post(code: "c\(number)", subject: "u\(number)").id))
            }
            #expect(try await gateway.refresh(ids[0]).code == "provider_misconfigured")
            for id in ids.dropFirst() { #expect(try await gateway.refresh(id).code == "provider_unavailable") }
            #expect(try await gateway.post(code: "c99", subject: "u99").status == 503)
            #expect(script.count(of: .refresh) == 1 && script.count(of: .exchange) == 20)
            let serving = gateway.serving
            let told = await IncidentCommands.list(serving.place, serving.gateway, json: false).text
            #expect(told.contains("pause") && told.contains("refuses our credentials by name"))
            #expect(gateway.log.text.contains("a provider refuses our credentials: it is paused"))
            // An operator's word is a trial at once: still wrong, then mended.
            let trial = try #require(ConsentID(ids[1]))
            await #expect(throws: ConsentFailure.self) {
                try await serving.gateway.refresh.asTrial(trial, caller: operatorCaller)
            }
            #expect(script.count(of: .refresh) == 2)
            isWrong.withLock { $0 = false }
            _ = try await serving.gateway.refresh.asTrial(trial, caller: operatorCaller)
            for id in ids {
                #expect(try await gateway.refresh(id).status == 200)
                #expect(try await gateway.record(id).json["status"]?.string == "active")
            }
        }
    }

    @Test("one user's junk codes are refused to that user, and nobody else notices", arguments: [400, 401, 403, 500])
    func junk(_ status: Int) async throws {
        let body = status == 400 ? #"{"error":"invalid_grant"}"# : status == 401 ? #"{"error":"invalid_client"}"# : ""
        let script = try PayPalScript { call, _, request in
            call == .exchange && request.body.contains("junk") ? .http(status, body) : nil
        }
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let id = try #require(try await gateway.post(code: "good-1", subject: "honest").id)
            for number in 0..<12 {
                #expect(try await gateway.post(code: "junk-\(number)", subject: "attacker").status != 201)
            }
            #expect(try await gateway.refresh(id).status == 200)
            #expect(try await gateway.post(code: "good-2", subject: "other").status == 201)
            #expect(script.count(of: .exchange) == 14)
        }
    }

    private var operatorCaller: CallerIdentity { CallerIdentity(name: "command line", requestID: nil) }
}
