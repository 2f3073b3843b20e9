// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import NativeCurl
import NativeJOSE
import NativeJSON
import NativeSystem
import TestSupport
import Testing

@testable import EndToEndTests
@testable import GatewayAssembly

/// Modules of `oidcc-client-config-certification-test-plan` that are not in the basic one.
@Suite("The config plan of the OpenID Foundation's relying-party tests")
struct ConfigPlanTests {
    @Test("oidcc-client-test-discovery-openid-config: every endpoint is the one that the issuer's metadata tell")
    func discovery() async throws {
        try await ModuleRun.with(
            told: { url in
                [
                    "token_endpoint": JSONValue("\(url)/op/t-4711"),
                    "userinfo_endpoint": JSONValue("\(url)/op/u-4711"),
                    "revocation_endpoint": JSONValue("\(url)/op/r-4711"),
                ]
            },
            bend: { $0.otherPaths = ["/op/t-4711": "/token", "/op/u-4711": "/userinfo", "/op/r-4711": "/revoke"] }
        ) { run in
            let made = try await run.post()
            #expect(made.status == 201 && made.json["provider_subject"]?.string == "s-canary-1")
            let id = try #require(made.id)
            #expect(try await run.gateway.refresh(id).status == 200)
            #expect(try await run.gateway.raw("DELETE", "/v1/consents/\(id)").status == 200)
            blockUntil { run.requests("/op/r-4711").count == 2 }
            #expect(run.requests("/op/t-4711").count == 2 && run.requests("/op/u-4711").count == 1)
            #expect(run.requests("/.well-known/openid-configuration").count == 1)
            for path in ["/token", "/userinfo", "/revoke"] { #expect(run.requests(path).isEmpty) }
        }
    }

    @Test("oidcc-client-test-discovery-jwks-uri-keys: the keys are fetched where the metadata say")
    func keysElsewhere() async throws {
        try await ModuleRun.with(
            told: { ["jwks_uri": JSONValue("\($0)/jwksQwErTyUiOp")] },
            bend: { $0.otherPaths = ["/jwksQwErTyUiOp": "/jwks"] }
        ) { run in
            let made = try await run.post()
            #expect(made.status == 201 && made.json["provider_subject"]?.string == "s-canary-1")
            #expect(run.requests("/jwksQwErTyUiOp").count == 1 && run.requests("/jwks").isEmpty)
        }
    }

    @Test("oidcc-client-test-discovery-issuer-mismatch: metadata in another's name are not used")
    func otherIssuer() async throws {
        try await ModuleRun.with(told: { ["issuer": JSONValue("\($0)INVALID")] }) { run in
            let url = run.script.url
            let refused = try await run.post()
            #expect(refused.status == 503 && refused.code == "provider_unavailable")
            #expect(refused.headers["retry-after"] != nil)
            for path in ["/token", "/jwks", "/userinfo"] { #expect(run.requests(path).isEmpty) }
            let output = await CheckCommand.run(
                configPath: run.gateway.folder + "/gateway.yaml", environment: [:], json: false)
            #expect(output.status == .partlyDone)
            #expect(output.text.contains("the provider calls itself \(url)INVALID and not \(url)"), "\(output.text)")
            run.script.change { $0.metadata = [:] }
            let made = try await run.gateway.untilAnswered { try await run.post() }
            #expect(made.status == 201 && run.requests("/token").count == 1)
        }
    }

    @Test("oidcc-client-test-signing-key-rotation-just-before-signing: a key that is new with the ID token is fetched")
    func rotationBeforeSigning() async throws {
        var client = RegisteredClient()
        client.lines = [IssuerTests.short]
        let next = try SigningKeys.key(SigningKeys.otherRSA, .rs256)
        try await ModuleRun.with(client) { run in
            // The keys that are known by then are the old ones.
            #expect(try await run.post("c-canary-0", subject: "user-0").status == 201)
            let script = run.script
            // What it does holds the script, which holds it.
            defer { script.change { $0.idToken = { $0 } } }
            script.change { behaviour in
                behaviour.claims["sub"] = "s-canary-2"
                behaviour.userinfo = { _ in .http(200, OpenIDScript.person("s-canary-2")) }
                behaviour.idToken = { made in
                    script.change { $0.keys = [next.publicJWK] }
                    return next.sign(BentToken(made).claims, type: "JWT")
                }
            }
            let made = try await run.expectAcceptedWithNewKeys("c-canary-1")
            #expect(made.json["provider_subject"]?.string == "s-canary-2")
            #expect(try await run.gateway.eventTypes(made.id) == ["consent.created"])
        }
    }

    @Test("oidcc-client-test-signing-key-rotation: a second code, signed with a key that is new since, is verified too")
    func rotation() async throws {
        var client = RegisteredClient()
        client.lines = [IssuerTests.short]
        let next = try SigningKeys.key(SigningKeys.otherRSA, .rs256)
        try await ModuleRun.with(client) { run in
            let first = try await run.expectAccepted()
            run.script.change { behaviour in
                behaviour.key = next
                behaviour.keys = [next.publicJWK]
            }
            let second = try await run.expectAcceptedWithNewKeys("c-canary-2")
            #expect(second.id == first.id)
            let types = try await run.gateway.eventTypes(first.id)
            #expect(types.prefix(2) == ["consent.created", "consent.renewed"], "\(types)")
            #expect(types.allSatisfy { !$0.hasPrefix("security.") }, "\(types)")
        }
    }
}

extension ModuleRun {
    /// A consent at once: the code is spent once, and the keys are fetched once more for its ID token.
    fileprivate func expectAcceptedWithNewKeys(_ code: String) async throws -> TestAnswer {
        let made = try await post(code)
        #expect([200, 201].contains(made.status) && made.json["status"]?.string == "active", "\(made.text)")
        #expect(requests("/token").count == 2 && requests("/jwks").count == 2)
        expectConformingRequests(code)
        return made
    }
}

extension TestGateway {
    /// Posts again while the answer is 503, as an app does that minds `Retry-After`: for two minutes at most.
    func untilAnswered(_ post: () async throws -> TestAnswer) async throws -> TestAnswer {
        let end = serving.place.time.monotonic + .seconds(120)
        while true {
            let answer = try await post()
            guard answer.status == 503, serving.place.time.monotonic < end else { return answer }
            try await serving.place.time.sleep(until: serving.place.time.monotonic + .milliseconds(500))
        }
    }
}
