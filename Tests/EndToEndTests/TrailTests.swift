// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import HTTPEdge
import NativeCurl
import NativeJSON
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("What a record's trail tells")
struct TrailTests {
    @Test("a code presented for another subject while the first exchange is under way is told of once a caller")
    func otherSubjectMeanwhile() async throws {
        let release = Mailbox<Void>()
        let script = try PayPalScript { call, _, _ in
            if call == .exchange { blockUntil { !release.isEmpty } }
            return nil
        }
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            async let owner = gateway.post(code: "one-code", subject: "owner")
            _ = try await script.provider.arrivals.next()
            for thief in ["thief", "thief", "other-thief"] {
                let stolen = try await gateway.post(code: "one-code", subject: thief)
                #expect(stolen.status == 409)
                #expect(stolen.code == "code_already_used")
            }
            #expect(gateway.log.text.contains("a code was presented for another subject"))
            release.post(())
            let made = try await owner
            #expect(made.status == 201)
            #expect(script.count(of: .exchange) == 1)
            let events = try await gateway.events(try #require(made.id))
            #expect(events.map(\.draft.type) == [.created, .codeOfOtherSubject, .codeOfOtherSubject])
        }
    }

    @Test("a profile that was fetched for this very request is not stale, however young it had to be")
    func freshProfile() async throws {
        try await RecordCallsTests.with { gateway, script in
            let id = try await RecordCallsTests.made(gateway)
            for round in 1...5 {
                blockUntil { gateway.serving.place.time.now.milliseconds % 50 > 20 }
                let fresh = try await gateway.call(.get, "/v1/consents/\(id)/profile?max_age=0")
                #expect(fresh.json["stale"]?.boolean == false)
                #expect(script.count(of: .userinfo) == 1 + round)
            }
        }
    }

    @Test("a profile that a known code's answer carries is a reading by whoever gets it, once a day")
    func profileOfKnownCode() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let made = try await gateway.post(code: "c", subject: "u")
            let id = try #require(made.id)
            #expect(try await gateway.events(id).map(\.draft.type) == [.created])
            let body = #"{"provider":"paypal","subject":"u","code":"c"}"#
            let blind = try await gateway.addKey("blind", [.consentsWrite])
            let reader = try await gateway.addKey("reader", [.consentsWrite, .profilesRead])
            let unseen = try await gateway.call(.post(Array(body.utf8)), "/v1/consents", key: blind)
            #expect(unseen.status == 200 && unseen.json["profile"] == nil)
            #expect(try await gateway.events(id).map(\.draft.type) == [.created])
            for _ in 0..<2 {
                let seen = try await gateway.call(.post(Array(body.utf8)), "/v1/consents", key: reader)
                #expect(seen.status == 200)
                #expect(seen.json["profile"]?["email"]?.string == "ada@canary.example")
            }
            let events = try await gateway.events(id)
            #expect(events.map(\.draft.type) == [.created, .profileRead])
            #expect(events.last?.draft.caller == "reader")
            // The one that renews gets what it brought.
            #expect(try await gateway.post(code: "d", subject: "u").status == 200)
            #expect(try await gateway.events(id).map(\.draft.type) == [.created, .profileRead, .renewed])
            #expect(try await gateway.raw("DELETE", "/v1/consents/\(id)").status == 200)
            let ended = try await gateway.call(.post(Array(body.utf8)), "/v1/consents", key: reader)
            #expect(ended.status == 200 && ended.json["status"]?.string == "revoked")
            #expect(ended.json["profile"] == nil || ended.json["profile"]?.isNull == true)
        }
    }

    @Test("nothing is read after a withdrawal: who asks meanwhile is in the trail before it, or gets nothing")
    func readingWhileWithdrawn() async throws {
        try await RecordCallsTests.with { gateway, _ in
            for round in 0..<30 {
                let id = try await RecordCallsTests.made(gateway, code: "c-\(round)", subject: "u-\(round)")
                let path = "/v1/consents/\(id)"
                async let withdrawn = gateway.raw("DELETE", path)
                async let profile = gateway.raw("GET", path + "/profile")
                async let token = gateway.raw("POST", path + "/access-token", body: "{}")
                #expect(try await withdrawn.status == 200)
                let answers = [try await profile, try await token]
                for answer in answers where answer.status != 200 {
                    #expect(answer.status == 409 && answer.code == "consent_ended")
                }
                let types = try await gateway.events(id).map(\.draft.type)
                let after = types.drop { $0 != .revoked }
                #expect(!after.contains(.profileRead) && !after.contains(.tokenRead), "\(types)")
                #expect(types.contains(.profileRead) == (answers[0].status == 200))
                #expect(types.contains(.tokenRead) == (answers[1].status == 200))
            }
        }
    }
}

extension TestGateway {
    /// Another caller's key.
    func addKey(_ name: String, _ scopes: Set<CallerScope>) async throws -> String {
        let made = APIKey.make(name: name, scopes: scopes, lifetime: nil, now: serving.place.time.now)
        try await serving.gateway.store.createAPIKey(made.key)
        try await serving.callers.reload()
        Canary.know(made.text.reveal(), in: #fileID)
        return made.text.reveal()
    }
}
