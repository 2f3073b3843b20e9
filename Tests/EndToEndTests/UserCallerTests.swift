// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Consents
import NativeCrypto
import NativeCurl
import NativeHTTPServer
import NativeJSON
import NativeSystem
import Observability
import TestSupport
import Testing

@testable import GatewayAssembly
@testable import HTTPEdge

@Suite("The merchant's users as callers")
struct UserCallerTests {
    /// A gateway with one issuer of sessions, and its users.
    private static func with(
        limits: String = "exchanges_per_subject: 100000/s", more: String = "",
        _ body: (TestGateway, MerchantIssuer, PayPalScript) async throws -> Void
    ) async throws {
        let script = try PayPalScript { call, _, request in
            // Another person for another code, so that two users have two consents.
            guard call == .userinfo else { return nil }
            return .http(200, PayPalScript.person(request.text.contains("canary-2") ? 2 : 1))
        }
        let issuer = try MerchantIssuer()
        defer {
            script.provider.stop()
            issuer.server.stop()
        }
        try await TestGateway.with(provider: script.provider.url, sections: issuer.settings(more), limits: limits) {
            try await body($0, issuer, script)
        }
    }

    private static func code(_ code: String, _ members: String = "") -> CurlMethod {
        .post(Array(#"{"provider":"paypal","response":{"code":"\#(code)"}\#(members)}"#.utf8))
    }

    @Test("a user creates, lists, reads and withdraws what is its own, and sees its own profile")
    func ownConsent() async throws {
        try await UserCallerTests.with { gateway, issuer, script in
            let ada = issuer.session(of: "ada")
            let made = try await gateway.call(UserCallerTests.code("c1"), "/v1/consents", key: ada)
            #expect(made.status == 201, "\(made)")
            #expect(made.json["subject"]?.string == "shop:ada")
            #expect(made.json["profile"]?["name"]?.string == "Ada Canary")
            let id = try #require(made.id)
            let record = "/v1/consents/\(id)"
            let list = try await gateway.call(.get, "/v1/consents", key: ada)
            #expect(list.json["items"]?.array?.map { $0["id"]?.string } == [id])
            for path in ["", "/profile?max_age=60", "/events", "/receipt"] {
                #expect(try await gateway.call(.get, record + path, key: ada).status == 200, "\(path)")
            }
            let again = try await gateway.call(UserCallerTests.code("c1"), "/v1/consents", key: ada)
            #expect(again.status == 200 && again.id == id)
            #expect(try await gateway.raw("DELETE", record, key: ada).status == 200)
            #expect(try await gateway.call(.get, record, key: ada).json["status_reason"]?.string == "user")
            #expect(script.count(of: .exchange) == 1)
            // The keys were fetched once.
            #expect(issuer.server.requests.map(\.line) == ["GET /jwks.json HTTP/1.1"])
            // A token's revocation may be there already, which the gateway tells of.
            let callers = Set(try await gateway.events(id).map(\.draft.caller)).subtracting(["gateway"])
            #expect(callers.count == 1 && callers.first?.wholeMatch(of: /user:[0-9a-f]{16}/) != nil, "\(callers)")
            #expect(!gateway.log.text.contains("shop:ada"))
            #expect(gateway.log.text.contains("caller=user:"))
        }
    }

    @Test("every cell of caller, route and owner: somebody else's is the same bytes as not there, for every method")
    func cells() async throws {
        try await UserCallerTests.with { gateway, issuer, _ in
            let (ada, bob) = (issuer.session(of: "ada"), issuer.session(of: "bob"))
            let own = try #require(try await gateway.call(UserCallerTests.code("c1"), "/v1/consents", key: ada).id)
            let other = try #require(try await gateway.call(UserCallerTests.code("c2"), "/v1/consents", key: bob).id)
            let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
            let ends = [
                "", "/profile", "/profile?max_age=1", "/profile?subject=shop:ada", "/refresh", "/access-token",
                "/events", "/receipt", "/nothing",
            ]
            for method in methods {
                for end in ends {
                    let paths = [CallerTests.id, other].map { "/v1/consents/\($0)\(end)" }
                    let absent = try await gateway.bytes(method, paths[0], key: ada)
                    let foreign = try await gateway.bytes(method, paths[1], key: ada)
                    #expect(absent == foreign, "\(method) \(end)")
                    #expect(absent.hasPrefix("HTTP/1.1 4"), "\(method) \(end): \(absent)")
                }
            }
            // Nothing of that has changed Bob's record, and Bob's key opens it.
            let record = try await gateway.call(.get, "/v1/consents/\(other)", key: bob)
            #expect(record.status == 200 && record.json["status"]?.string == "active")
            #expect(try await gateway.events(other).allSatisfy { $0.draft.type != .profileRead })
            // One's own: what the table of the contract says, the withdrawal last.
            for call in CallerTests.calls where call.path != "/v1/consents" && call.method != "DELETE" {
                let route = try UserCallerTests.route(call.method, call.path)
                let path = call.path.replacing(CallerTests.id, with: own)
                let answer = try await gateway.raw(call.method, path, body: call.body, key: ada)
                #expect(answer.status == (route.isForUsers ? 200 : 403), "\(call.method) \(path): \(answer)")
                // What a user may not do at all is refused before it is looked at whose it is.
                if !route.isForUsers { #expect(answer.code == "insufficient_scope") }
            }
            let list = try await gateway.call(.get, "/v1/consents", key: ada)
            #expect(list.json["items"]?.array?.compactMap { $0["id"]?.string } == [own])
            #expect(try await gateway.raw("DELETE", "/v1/consents/\(own)", key: ada).status == 200)
        }
    }

    private static func route(_ method: String, _ path: String) throws -> Route {
        let segments = path.split(separator: "/").map(String.init)
        guard case .route(let route) = Route.match(method: method, segments: segments) else {
            throw TestGateway.NoAnswer()
        }
        return route
    }

    @Test("a user may do these calls and no others")
    func table() throws {
        let allowed = try CallerTests.calls.filter { try UserCallerTests.route($0.method, $0.path).isForUsers }
        #expect(
            Set(allowed.map { "\($0.method) \($0.path.replacing(CallerTests.id, with: "{id}"))" }) == [
                "POST /v1/consents", "GET /v1/consents", "HEAD /v1/consents", "GET /v1/consents/{id}",
                "HEAD /v1/consents/{id}", "DELETE /v1/consents/{id}", "GET /v1/consents/{id}/profile",
                "GET /v1/consents/{id}/events", "GET /v1/consents/{id}/receipt", "HEAD /v1/consents/{id}/receipt",
            ])
    }

    @Test("a user names no subject, its own neither, and asks a provider for a profile once a minute at most")
    func subjects() async throws {
        try await UserCallerTests.with { gateway, issuer, script in
            let ada = issuer.session(of: "ada")
            let id = try #require(try await gateway.call(UserCallerTests.code("c1"), "/v1/consents", key: ada).id)
            let refused: [(CurlMethod, String)] = [
                (UserCallerTests.code("c2", #","subject":"shop:ada""#), "/v1/consents"),
                (UserCallerTests.code("c2"), "/v1/consents?subject=shop%3Aada"),
                (.get, "/v1/consents?subject=shop:ada"), (.get, "/v1/consents?subject="),
                (.get, "/v1/consents/\(id)?subject=shop:bob"),
            ]
            for (method, path) in refused {
                let answer = try await gateway.call(method, path, key: ada)
                #expect(answer.status == 400 && answer.code == "invalid_request", "\(path)")
                #expect(answer.json["detail"]?.string?.hasPrefix("subject: ") == true, "\(path)")
            }
            let young = try await gateway.call(.get, "/v1/consents/\(id)/profile?max_age=59", key: ada)
            #expect(young.status == 400 && young.json["detail"]?.string?.contains("60 or more") == true)
            #expect(try await gateway.call(.get, "/v1/consents/\(id)/profile?max_age=0").status == 200)
            #expect(script.count(of: .exchange) == 1)
        }
    }

    @Test("a session that proves nothing is 401 before anything else, whatever is wrong with it")
    func attacks() async throws {
        let stranger = try MerchantIssuer()
        defer { stranger.server.stop() }
        try await UserCallerTests.with(limits: "failed_logins_per_address: 1000/1m") { gateway, issuer, script in
            #expect(try await gateway.call(.get, "/v1/consents", key: issuer.session(of: "ada")).status == 200)
            for (name, token) in UserCallerTests.forgeries(issuer, stranger) {
                for path in ["/v1/consents", "/v1/nothing", "/v1/consents/%00"] {
                    let answer = try await gateway.call(.get, path, key: token)
                    #expect(answer.status == 401 && answer.code == "unauthenticated", "\(name): \(answer)")
                    let challenge = answer.headers["www-authenticate"]
                    #expect(challenge == #"Bearer realm="consent-gateway", error="invalid_token""#, "\(name)")
                }
                let posted = try await gateway.call(UserCallerTests.code("c"), "/v1/consents", key: token)
                #expect(posted.status == 401, "\(name)")
            }
            #expect(script.provider.requests.isEmpty)
            #expect(stranger.server.requests.isEmpty, "an address in a token is followed")
            #expect(issuer.server.requests.count == 2, "forged tokens have the keys fetched again and again")
        }
    }

    private static func forgeries(_ issuer: MerchantIssuer, _ stranger: MerchantIssuer) -> [(String, String)] {
        let (now, claims) = (wallClockMilliseconds() / 1000, MerchantIssuer.claims(of: "ada"))
        let jwk = MerchantIssuer.jwk(of: stranger.key, "k1")
        let changed: [(String, JSONValue)] = [
            ("expired", ["exp": JSONValue(now - 61)]), ("no exp", ["exp": .null]), ("no aud", ["aud": .null]),
            ("another audience", ["aud": "shop-web"]), ("another issuer", ["iss": "https://login.other.test"]),
            ("no issuer", ["iss": .null]), ("not yet", ["nbf": JSONValue(now + 600)]),
            ("a lifetime of more than a day", ["exp": JSONValue(now + 86_500)]),
            ("a long life without iat", ["iat": .null, "exp": JSONValue(now + 90_000)]),
            ("no subject", ["sub": .null]), ("an empty subject", ["sub": ""]), ("a number as subject", ["sub": 7]),
            ("a control character", ["sub": "a\u{1}b"]),
            ("a long subject", ["sub": JSONValue(String(repeating: "s", count: 300))]),
            ("exp as a text", ["exp": JSONValue("\(now + 60)")]),
            ("bound to a key of DPoP", ["cnf": ["jkt": "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"]]),
            ("bound to a certificate", ["cnf": ["x5t#S256": "bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2"]]),
        ]
        let headers: [(String, JSONValue)] = [
            ("another kind of token", ["typ": "dpop+jwt"]), ("a logout token", ["typ": "logout+jwt"]),
            ("an extension", ["crit": ["exp"], "exp": 1]), ("a MAC's name", ["alg": "HS256"]),
            ("an algorithm that is not allowed", ["alg": "ES384"]),
        ]
        let embedded: [(String, JSONValue)] = [
            ("an embedded key", ["jwk": jwk]),
            ("an embedded address", ["jku": JSONValue(stranger.server.url + "/jwks.json")]),
            ("an embedded certificate", ["x5c": ["MIIB"]]), ("its own key under our name", [:]),
        ]
        var forgeries = changed.map { ($0.0, issuer.session(of: "ada", $0.1)) }
        forgeries += headers.map { ($0.0, issuer.session(of: "ada", header: $0.1)) }
        forgeries += embedded.map { ($0.0, stranger.session(of: "ada", header: $0.1)) }
        let unsigned = MerchantIssuer.message(claims, ["alg": "none", "typ": "JWT"])
        forgeries.append(("no signature", unsigned + "."))
        let disguised = MerchantIssuer.message(claims, ["alg": "nOnE"])
        forgeries.append(("an algorithm none, spelled otherwise", disguised + "."))
        forgeries.append(("the public key as a secret", UserCallerTests.confused(claims, issuer)))
        let parts = issuer.session(of: "ada").split(separator: ".").map(String.init)
        let bobs = issuer.session(of: "bob").split(separator: ".").map(String.init)
        forgeries.append(("another one's claims", [parts[0], bobs[1], parts[2]].joined(separator: ".")))
        forgeries.append(("padding", parts.joined(separator: ".") + "="))
        forgeries.append(("two parts", parts[0] + "." + parts[1]))
        forgeries.append(("five parts", (parts + ["", ""]).joined(separator: ".")))
        return forgeries
    }

    /// RFC 8725, section 2.1: HS256 with what everybody can read as the key.
    private static func confused(_ claims: JSONValue, _ issuer: MerchantIssuer) -> String {
        let message = MerchantIssuer.message(claims, ["alg": "HS256", "typ": "JWT", "kid": JSONValue(issuer.keyID)])
        let key = MerchantIssuer.text(MerchantIssuer.jwk(of: issuer.key, issuer.keyID))
        guard let mac = try? HMACSHA256(key: SecretBytes(Array(key.utf8))) else { return "" }
        return message + "." + Base64.urlSafe.text(of: mac.mac(Array(message.utf8)))
    }

    @Test("keys that cannot be had are our trouble: 503 with Retry-After, never 401; what no key could save is 401")
    func keysOutOfReach() async throws {
        let script = try PayPalScript()
        let issuer = try MerchantIssuer(isDown: true)
        defer {
            script.provider.stop()
            issuer.server.stop()
        }
        try await TestGateway.with(provider: script.provider.url, sections: issuer.settings()) { gateway in
            for _ in 0..<3 {
                let answer = try await gateway.call(
                    UserCallerTests.code("c"), "/v1/consents", key: issuer.session(of: "ada"))
                #expect(answer.status == 503 && answer.code == "provider_unavailable")
                #expect(answer.headers["retry-after"] == "5")
            }
            // Asked once, for the next time is 5 seconds later.
            #expect(issuer.server.requests.count == 1)
            let forged = MerchantIssuer.message(MerchantIssuer.claims(of: "ada"), ["alg": "none"]) + "."
            #expect(try await gateway.call(.get, "/v1/consents", key: forged).status == 401)
            #expect(try await gateway.record(CallerTests.id).status == 404, "API keys go on")
            #expect(script.provider.requests.isEmpty)
        }
    }

    @Test("keys that are held go on whatever strangers show; they are failed logins, and have the keys fetched once")
    func heldKeys() async throws {
        try await UserCallerTests.with(limits: "failed_logins_per_address: 2/10m") { gateway, issuer, _ in
            let ada = issuer.session(of: "ada")
            #expect(try await gateway.call(.get, "/v1/consents", key: ada).status == 200)
            var statuses: [Int] = []
            let headers: [JSONValue] = (0..<20).map { ["kid": JSONValue("other-\($0)")] } + [["alg": "RS256"]]
            for header in headers {
                let unknown = issuer.session(of: "ada", header: header)
                statuses.append(try await gateway.call(.get, "/v1/consents", key: unknown).status)
            }
            // The first one has them looked for anew: the address that shows others is told to wait, and nobody else.
            #expect(statuses == [401, 401] + Array(repeating: 429, count: 19))
            issuer.set(isDown: true)
            #expect(try await gateway.call(.get, "/v1/consents", key: ada).status == 200)
            #expect(issuer.server.requests.count == 2)
        }
    }

    @Test("an issuer's new key opens the door a moment after the old ones were fetched; while it is down it is 503")
    func newKey() async throws {
        let next = try MerchantIssuer(keyID: "k2")
        defer { next.server.stop() }
        try await UserCallerTests.with { gateway, issuer, _ async throws in
            let (old, new) = (issuer.session(of: "ada"), next.session(of: "ada"))
            #expect(try await gateway.call(.get, "/v1/consents", key: old).status == 200)
            issuer.publish([next])
            #expect(try await gateway.call(.get, "/v1/consents", key: new).status == 200)
            #expect(try await gateway.call(.get, "/v1/consents", key: old).status == 401)
            #expect(issuer.server.requests.count == 2)
        }
        try await UserCallerTests.with { gateway, issuer, _ async throws in
            #expect(try await gateway.call(.get, "/v1/consents", key: issuer.session(of: "ada")).status == 200)
            issuer.set(isDown: true)
            for _ in 0..<2 {
                let answer = try await gateway.call(.get, "/v1/consents", key: next.session(of: "ada"))
                #expect(answer.status == 503 && answer.code == "provider_unavailable")
            }
            #expect(issuer.server.requests.count == 2)
        }
    }

    @Test("check asks for the keys of sessions and says what it found; each fetch is counted")
    func check() async throws {
        try await UserCallerTests.with { gateway, issuer, _ async throws in
            let path = gateway.folder + "/gateway.yaml"
            let place = "auth.jwt[0]: jwks_uri: \(issuer.server.url)/jwks.json: "
            let good = await CheckCommand.run(configPath: path, environment: [:], json: false)
            #expect(good.text.contains(place + "1 of 1 keys can be used, for ES256\n"), "\(good.text)")
            issuer.set(isDown: true)
            let bad = await CheckCommand.run(configPath: path, environment: [:], json: false)
            #expect(bad.status == .partlyDone)
            #expect(bad.text.contains(place + "the answer's status was 503: no user can call"), "\(bad.text)")
            #expect(try await gateway.call(.get, "/v1/consents", key: issuer.session(of: "ada")).status == 503)
            let page = await MetricsPage(gateway.serving.place.metrics, readings: []).text()
            #expect(page.contains(#"consent_gateway_session_key_fetches_total{outcome="failed"} 1"#), "\(page)")
        }
    }

    @Test("two issuers' users never meet, and neither issuer speaks for the other's; keys of a file are read again")
    func twoIssuers() async throws {
        let (shop, partner, next) = (try MerchantIssuer(), try MerchantIssuer(), try MerchantIssuer(keyID: "k2"))
        let script = try PayPalScript()
        let folder = try makeTemporaryFolder(prefix: "consent-gateway-test-", in: "/tmp")
        defer {
            for server in [shop.server, partner.server, next.server, script.provider] { server.stop() }
            removeFolder(at: folder)
        }
        let file = folder + "/jwks.json"
        func write(_ issuer: MerchantIssuer) throws {
            let document = MerchantIssuer.document([MerchantIssuer.jwk(of: issuer.key, issuer.keyID)])
            try? removeFile(at: file)
            try createFile(Array(document.utf8), at: file, permissions: 0o644)
        }
        try write(partner)
        let second = """
                - issuer: https://login.partner.test
                  audience: consent-gateway
                  jwks: { file: \(file) }
                  type: at+jwt
                  subject_claim: uid
                  subject_prefix: "partner:"
            """
        let theirs: JSONValue = ["iss": "https://login.partner.test", "uid": "ada"]
        func session(_ issuer: MerchantIssuer, _ type: String = "at+jwt") -> String {
            issuer.session(of: "someone", theirs, header: ["typ": JSONValue(type)])
        }
        try await TestGateway.with(provider: script.provider.url, sections: shop.settings(second)) { gateway in
            let own = try await gateway.call(UserCallerTests.code("c1"), "/v1/consents", key: shop.session(of: "ada"))
            let id = try #require(own.id)
            let made = try await gateway.call(UserCallerTests.code("c2"), "/v1/consents", key: session(partner))
            #expect(made.json["subject"]?.string == "partner:ada")
            #expect(try await gateway.call(.get, "/v1/consents/\(id)", key: session(partner)).status == 404)
            for forged in [session(shop), session(partner, "JWT"), partner.session(of: "ada")] {
                #expect(try await gateway.call(.get, "/v1/consents", key: forged).status == 401)
            }
            try write(next)
            gateway.serving.sessions?.readFilesAgain()
            #expect(try await gateway.call(.get, "/v1/consents", key: session(partner)).status == 401)
            #expect(try await gateway.call(.get, "/v1/consents", key: session(next)).status == 200)
        }
    }

    @Test("each user has limits of its own, and an address that shows forged sessions is told to wait")
    func limits() async throws {
        let limits = "requests_per_caller: 3/1m, failed_logins_per_address: 3/1m"
        try await UserCallerTests.with(limits: limits) { gateway, issuer, _ in
            let (ada, bob) = (issuer.session(of: "ada"), issuer.session(of: "bob"))
            var statuses: [Int] = []
            for _ in 0..<4 { statuses.append(try await gateway.call(.get, "/v1/consents", key: ada).status) }
            #expect(statuses == [200, 200, 200, 429])
            // Another session of the same user is the same caller.
            let again = issuer.session(of: "ada", ["jti": "2"])
            #expect(try await gateway.call(.get, "/v1/consents", key: again).status == 429)
            statuses = []
            for number in 0..<5 {
                let forged = issuer.session(of: "bob", ["aud": JSONValue("other-\(number)")])
                statuses.append(try await gateway.call(.get, "/v1/consents", key: forged).status)
            }
            #expect(statuses == [401, 401, 401, 429, 429])
            #expect(try await gateway.call(.get, "/v1/consents", key: bob).status == 200)
        }
    }
}

extension TestGateway {
    /// One call's whole answer, byte for byte, but for the time of day.
    fileprivate func bytes(_ method: String, _ path: String, key: String) async throws -> String {
        let connection = try RawConnection(port: serving.api.port)
        let hasBody = method == "POST" || method == "PUT" || method == "PATCH"
        let body = hasBody ? "Content-Type: application/json\r\nContent-Length: 2\r\n" : ""
        try connection.send(
            "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(key)\r\n"
                + "X-Request-Id: same\r\nConnection: close\r\n\(body)\r\n\(hasBody ? "{}" : "")")
        Canary.know(key, in: #fileID)
        let text = String(decoding: try await connection.readToEnd(), as: UTF8.self)
        Canary.keep(Array(text.utf8), in: .answers)
        return text.split(separator: "\r\n", omittingEmptySubsequences: false)
            .filter { !$0.lowercased().hasPrefix("date:") }.joined(separator: "\r\n")
    }
}
