// SPDX-License-Identifier: Apache-2.0
import NativeCurl
import NativeJSON
import TestSupport
import Testing

@testable import GatewayAssembly

/// RFC 9207: whose name stands in the authorization response that an app hands over.
@Suite("The issuer of an authorization response")
struct AnsweringIssuerTests {
    private static func body(_ code: String, iss: String) -> CurlMethod {
        .post(Array(#"{"provider":"acme","subject":"user-1","code":"\#(code)","iss":\#(iss)}"#.utf8))
    }

    private static func expectRefused(_ answer: TestAnswer, _ words: String = "iss: ") {
        #expect(answer.status == 400 && answer.code == "invalid_request", "\(answer.text)")
        #expect(answer.json["detail"]?.string?.hasPrefix(words) == true, "\(answer.text)")
        #expect(!answer.text.contains("other.example"), "another's word is repeated")
    }

    @Test("a code in another issuer's name is not sent; in the provider's own it is still good")
    func compared() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        let url = script.url
        try await TestGateway.with(provider: url, sections: script.settings()) { gateway async throws in
            let others = [
                "https://login.other.example", "\(url)/", url.uppercased(), "\(url)?", "\(url)#", "",
                "\(url)/.well-known/openid-configuration",
            ]
            for other in others {
                let answer = try await gateway.call(
                    AnsweringIssuerTests.body("c-canary-1", iss: "\"\(other)\""), "/v1/consents")
                AnsweringIssuerTests.expectRefused(answer)
            }
            for odd in ["7", "true", "[\"\(url)\"]", "{}"] {
                let answer = try await gateway.call(AnsweringIssuerTests.body("c-canary-1", iss: odd), "/v1/consents")
                AnsweringIssuerTests.expectRefused(answer, "iss: it must be a string")
            }
            #expect(script.count(of: "/token") == 0)
            #expect(gateway.log.text.contains("an authorization response is of another issuer; its code is not sent"))
            #expect(!gateway.log.text.contains("other.example"))
            let own = AnsweringIssuerTests.body("c-canary-1", iss: "\"\(url)\"")
            let made = try await gateway.call(own, "/v1/consents")
            #expect(made.status == 201, "\(made.text)")
            let without = try await gateway.call(AnsweringIssuerTests.body("c-canary-2", iss: "null"), "/v1/consents")
            #expect(without.status == 200, "\(without.text)")
        }
    }

    @Test("the name that counts is the discovered one; without it no code is sent and none is lost")
    func discovered() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        let url = script.url
        // The configuration may differ by a slash at the end.
        let settings = script.settings().replacing("issuer: \(url)", with: "issuer: \(url)/")
        script.change { $0.metadata = nil }
        try await TestGateway.with(provider: url, sections: settings) { gateway async throws in
            let good = AnsweringIssuerTests.body("c-canary-1", iss: "\"\(url)\"")
            let early = try await gateway.call(good, "/v1/consents")
            #expect(early.status == 503 && early.code == "provider_unavailable", "\(early.text)")
            #expect(early.headers["retry-after"] == "5")
            script.change { $0.metadata = [:] }
            let end = gateway.serving.place.time.monotonic + .seconds(40)
            var made = early
            while made.status == 503, gateway.serving.place.time.monotonic < end {
                try await gateway.serving.place.time.sleep(
                    until: gateway.serving.place.time.monotonic + .milliseconds(200))
                made = try await gateway.call(good, "/v1/consents")
            }
            #expect(made.status == 201, "\(made.text)")
            AnsweringIssuerTests.expectRefused(
                try await gateway.call(AnsweringIssuerTests.body("c-canary-2", iss: "\"\(url)/\""), "/v1/consents"))
            #expect(script.count(of: "/token") == 1)
        }
    }

    @Test("where the endpoints are configured the configured name counts; where none is, there is nothing to compare")
    func configured() async throws {
        let script = try OpenIDScript()
        defer { script.provider.stop() }
        let url = script.url
        let endpoints = """
            id_token: ignored
                token_endpoint: \(url)/token
                userinfo_endpoint: \(url)/userinfo
            """
        let named = script.settings(endpoints).replacing("issuer: \(url)", with: "issuer: https://login.acme.example")
        try await TestGateway.with(provider: url, sections: named) { gateway async throws in
            AnsweringIssuerTests.expectRefused(
                try await gateway.call(AnsweringIssuerTests.body("c-canary-1", iss: "\"\(url)\""), "/v1/consents"))
            #expect(script.count(of: "/token") == 0)
            let own = AnsweringIssuerTests.body("c-canary-1", iss: #""https://login.acme.example""#)
            #expect(try await gateway.call(own, "/v1/consents").status == 201)
        }
        let nameless = script.settings(endpoints).replacing("    issuer: \(url)\n", with: "")
        try await TestGateway.with(provider: url, sections: nameless) { gateway async throws in
            let any = AnsweringIssuerTests.body("c-canary-1", iss: #""https://login.other.example""#)
            #expect(try await gateway.call(any, "/v1/consents").status == 201)
        }
    }
}
