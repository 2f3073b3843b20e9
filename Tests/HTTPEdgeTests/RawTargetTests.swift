// SPDX-License-Identifier: Apache-2.0
import Consents
import Testing

@testable import HTTPEdge

@Suite("Request targets")
struct RawTargetTests {
    static func target(_ path: String, _ query: String? = nil) throws -> RawTarget {
        try RawTarget(path: Array(path.utf8), query: query.map { Array($0.utf8) })
    }

    @Test("segments are split before they are decoded")
    func segments() throws {
        #expect(try RawTargetTests.target("/v1/a%2Fb/%C3%A9+").segments == ["v1", "a/b", "é+"])
        #expect(try RawTargetTests.target("/v1//x/").segments == ["v1", "", "x", ""])
    }

    @Test(
        "bad escapes, control characters and bad UTF-8 are refused",
        arguments: ["/a%0", "/a%", "/a%zz", "/a%00b", "/%FF", "/a%1f", "x", "", "/%C3%28"])
    func badPaths(_ path: String) {
        #expect(throws: Problem.self) { try RawTargetTests.target(path) }
    }

    @Test("query values are decoded by length, a plus is a blank")
    func query() throws {
        let target = try RawTargetTests.target("/", "subject=user%2B4+2&provider=paypal&empty")
        #expect(try target.parameter("subject") == "user+4 2")
        #expect(try target.parameter("provider") == "paypal")
        #expect(try target.parameter("empty")?.isEmpty == true)
        #expect(try target.parameter("absent") == nil)
    }

    @Test("a parameter that stands there twice is refused")
    func twice() throws {
        let target = try RawTargetTests.target("/", "subject=a&subject=a")
        #expect(throws: Problem.self) { try target.parameter("subject") }
    }

    @Test("the table of calls: paths, methods, and what is not there")
    func routes() throws {
        let id = try #require(ConsentID("cns_019378f0c0de7000a1b2c3d4e5f60718"))
        let cases: [(String, [String], Route.Match)] = [
            ("POST", ["v1", "consents"], .route(.createConsent)),
            ("GET", ["v1", "consents"], .route(.listConsents)),
            ("PUT", ["v1", "consents"], .otherMethods(allow: "GET, HEAD, POST")),
            ("GET", ["v1", "consents", id.description], .route(.consent(id))),
            ("HEAD", ["v1", "consents", id.description], .route(.consent(id))),
            ("DELETE", ["v1", "consents", id.description], .route(.withdraw(id))),
            ("POST", ["v1", "consents", id.description], .otherMethods(allow: "GET, HEAD, DELETE")),
            ("GET", ["v1", "consents", id.description, "events"], .route(.events(id))),
            ("GET", ["v1", "consents", id.description, "profile"], .route(.profile(id))),
            ("POST", ["v1", "consents", id.description, "access-token"], .route(.accessToken(id))),
            ("POST", ["v1", "consents", id.description, "refresh"], .route(.refresh(id))),
            ("GET", ["v1", "consents", id.description, "refresh"], .otherMethods(allow: "POST")),
            ("GET", ["v1", "consents", "cns_1"], .nothing),
            ("GET", ["v1", "consents", ""], .nothing),
            ("GET", ["v2", "consents"], .nothing),
            ("GET", [""], .nothing),
            ("POST", ["v1", "consents", id.description, "refresh", ""], .nothing),
        ]
        for (method, segments, expected) in cases {
            #expect(Route.match(method: method, segments: segments) == expected, "\(method) \(segments)")
        }
    }
}
