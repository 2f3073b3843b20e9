// SPDX-License-Identifier: Apache-2.0
import ConsentUseCases
import NativeCurl
import NativeJOSE
import NativeJSON
import NativeSQLite
import NativeSystem
import TestSupport
import Testing

@testable import GatewayAssembly

/// An ID token of a refresh that came while its issuer's keys could not be had.
@Suite("ID tokens that nobody could judge when they came")
struct UnjudgedIdentityTests {
    /// What is found out about it once the keys are there.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var event: String?
        var isPublished = true
        var bend: @Sendable (inout OpenIDScript.Behaviour) -> Void = { _ in }
    }

    static let cases = [
        Case(testDescription: "a good one", event: nil),
        Case(
            testDescription: "one that no published key has signed", event: "security.id_token_refused",
            isPublished: false),
        Case(testDescription: "another nonce", event: "security.id_token_refused") { $0.claims["nonce"] = "other" },
        Case(testDescription: "another person", event: "security.provider_subject_changed") {
            $0.claims["sub"] = "s-canary-2"
        },
    ]

    @Test("it is looked at again before its profile is asked for, by the next process too", arguments: cases)
    func again(_ item: Case) async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        let (old, new) = (
            try SigningKeys.key(SigningKeys.rsa, .rs256), try SigningKeys.key(SigningKeys.otherRSA, .rs256)
        )
        let settings = script.settings(IssuerTests.short)
        try await TestGateway.inFolder(provider: script.url, sections: settings) { folder in
            var id = ""
            try await TestGateway.living(in: folder) { gateway async throws in
                let made = try await gateway.exchange("c-canary-1")
                id = try #require(made.id)
                script.change { behaviour in
                    behaviour.key = new
                    behaviour.keys = nil
                    item.bend(&behaviour)
                }
                let record = try await gateway.refresh(id)
                #expect(record.status == 200 && record.json["status"]?.string == "active", "\(record.text)")
                #expect(record.json["profile_status"]?.string == "pending")
                // What is held is shown, and nothing is asked with those tokens.
                let profile = try await gateway.call(.get, "/v1/consents/\(id)/profile?max_age=0")
                #expect(profile.status == 200 && profile.json["stale"]?.boolean == true, "\(profile.text)")
                #expect(profile.json["claims"]?["sub"]?.string == "s-canary-1")
                #expect(script.count(of: "/userinfo") == 1)
                #expect(try await UnjudgedIdentityTests.security(gateway, id).isEmpty)
            }
            script.change { $0.keys = [(item.isPublished ? new : old).publicJWK] }
            try await TestGateway.living(in: folder) { gateway async throws in
                // The attributes are young enough: nothing but their ID token was waited for.
                let held = try await gateway.call(.get, "/v1/consents/\(id)/profile")
                #expect(held.status == 200 && held.json["stale"]?.boolean == false, "\(held.text)")
                let told = try await UnjudgedIdentityTests.security(gateway, id)
                #expect(told == (item.event.map { [$0] } ?? []))
                #expect(script.count(of: "/userinfo") == 1)
                let record = try await gateway.record(id)
                #expect(record.json["status"]?.string == "active", "\(record.text)")
                #expect(record.json["profile_status"]?.string == "current", "\(record.text)")
                #expect(record.json["provider_subject"]?.string == "s-canary-1")
                // It is told once, and the tokens that came with it are the next refresh's.
                script.change { $0.keys = [old.publicJWK, new.publicJWK] }
                script.change { $0.claims = [:] }
                #expect(try await gateway.refresh(id).status == 200)
                #expect(try await UnjudgedIdentityTests.security(gateway, id) == told)
                let sent = script.provider.requests.last { $0.line.contains("/token") }
                #expect(sent?.body.contains("refresh-canary-2") == true)
                #expect(script.count(of: "/revoke") == 0)
            }
        }
    }

    @Test("attributes that are too old by then are asked for once it is found good, and not before")
    func old() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        let new = try SigningKeys.key(SigningKeys.otherRSA, .rs256)
        let settings = script.settings(IssuerTests.short, "profile: { max_age: 1ms }")
        try await TestGateway.inFolder(provider: script.url, sections: settings) { folder in
            var id = ""
            try await TestGateway.living(in: folder) { gateway async throws in
                id = try #require(try await gateway.exchange("c-canary-1").id)
                script.change { behaviour in
                    behaviour.key = new
                    behaviour.keys = nil
                }
                #expect(try await gateway.refresh(id).json["profile_status"]?.string == "pending")
                #expect(script.count(of: "/userinfo") == 1)
            }
            script.change { behaviour in
                behaviour.keys = [new.publicJWK]
                behaviour.userinfo = { _ in .http(200, #"{"sub":"s-canary-1","email":"new@canary.example"}"#) }
            }
            try await TestGateway.living(in: folder) { gateway async throws in
                let profile = try await gateway.call(.get, "/v1/consents/\(id)/profile")
                #expect(profile.json["claims"]?["email"]?.string == "new@canary.example", "\(profile.text)")
                #expect(try await gateway.record(id).json["profile_status"]?.string == "current")
                #expect(script.count(of: "/userinfo") >= 2)
                #expect(try await UnjudgedIdentityTests.security(gateway, id).isEmpty)
            }
        }
    }

    @Test("a profile that its provider refuses stays unavailable while one waits, and where it was good")
    func unavailable() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        let new = try SigningKeys.key(SigningKeys.otherRSA, .rs256)
        let settings = script.settings(IssuerTests.short)
        try await TestGateway.with(provider: script.url, sections: settings) { gateway async throws in
            let id = try #require(try await gateway.exchange("c-canary-1").id)
            script.change { $0.userinfo = { _ in .http(403, "") } }
            _ = try await gateway.call(.get, "/v1/consents/\(id)/profile?max_age=0")
            #expect(try await gateway.record(id).json["profile_status"]?.string == "unavailable")
            script.change { behaviour in
                behaviour.key = new
                behaviour.keys = nil
            }
            #expect(try await gateway.refresh(id).json["profile_status"]?.string == "unavailable")
            script.change { $0.keys = [new.publicJWK] }
            _ = try await gateway.call(.get, "/v1/consents/\(id)/profile")
            #expect(try await gateway.record(id).json["profile_status"]?.string == "unavailable")
        }
    }

    @Test("one whose tokens went to the journal is looked at before its profile is asked for")
    func journaled() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        let isHeld = Locked(false)
        let settings = script.settings("timeouts: { connect: 1s, total: 2s, answer: 2s }")
        try await TestGateway.with(provider: script.url, sections: settings) { gateway async throws in
            let id = try #require(try await gateway.exchange("c-canary-1").id)
            script.change { behaviour in
                behaviour.claims["nonce"] = "another"
                behaviour.idToken = { made in
                    blockUntil { isHeld.withLock { $0 } }
                    return made
                }
            }
            async let refreshed = gateway.refresh(id)
            blockUntil { script.count(of: "/token") == 2 }
            // The token is on the wire; from now on the store takes no writes.
            let other = try SQLiteConnection(
                path: gateway.folder + "/consents.db", access: .readWrite, busyTimeout: 10_000)
            try other.execute("BEGIN IMMEDIATE")
            isHeld.withLock { $0 = true }
            #expect(try await refreshed.status == 503)
            let end = MonotonicInstant.now().advanced(by: .seconds(60 * patience()))
            while await gateway.serving.gateway.refresh.flightsUnderWay > 0, MonotonicInstant.now() < end {
                try await Task.sleep(for: .milliseconds(50))
            }
            try other.execute("COMMIT")
            #expect(gateway.log.text.contains("it lies in the journal until it does"))
            // The tokens come out of the journal by themselves; a refresh that comes later would send them.
            while try await !gateway.eventTypes(id).contains("consent.refreshed"), MonotonicInstant.now() < end {
                try await Task.sleep(for: .milliseconds(100))
            }
            #expect(try await gateway.eventTypes(id).contains("consent.refreshed"))
            #expect(script.count(of: "/token") == 2)
            #expect(try await UnjudgedIdentityTests.security(gateway, id).isEmpty)
            _ = try await gateway.call(.get, "/v1/consents/\(id)/profile?max_age=0")
            #expect(try await UnjudgedIdentityTests.security(gateway, id) == ["security.id_token_refused"])
            #expect(script.count(of: "/userinfo") == 1)
        }
    }

    private static func security(_ gateway: TestGateway, _ id: String) async throws -> [String] {
        try await gateway.eventTypes(id).filter { $0.hasPrefix("security.") }
    }
}
