// SPDX-License-Identifier: Apache-2.0
import NativeCurl
import NativeJSON
import NativeSystem
import Testing

@testable import IdentityTokens

private func outcome(
    _ document: String, issuer: String = "https://op.test", hosts: [String] = []
) throws -> Result<ProviderMetadata, MetadataFault> {
    let rule = try #require(EndpointRule(issuer: issuer, allowedHosts: hosts))
    do throws(MetadataFault) {
        return .success(try ProviderMetadata(document: Array(document.utf8), of: issuer, rule))
    } catch { return .failure(error) }
}

private func fault(_ url: String, issuer: String = "https://op.test", hosts: [String] = []) throws -> EndpointFault? {
    let rule = try #require(EndpointRule(issuer: issuer, allowedHosts: hosts))
    do throws(EndpointFault) {
        let taken = try rule.check(url)
        #expect(taken.text == url)
        return nil
    } catch { return error }
}

@Suite struct DiscoveryTests {
    @Test("the metadata stand behind the issuer's path, or between its host and path")
    func addresses() {
        #expect(
            discoveryAddresses(of: "https://op.test") == [
                "https://op.test/.well-known/openid-configuration",
                "https://op.test/.well-known/oauth-authorization-server",
            ])
        #expect(
            discoveryAddresses(of: "https://op.test/a//b/") == [
                "https://op.test/a//b/.well-known/openid-configuration",
                "https://op.test/.well-known/oauth-authorization-server/a//b",
            ])
        #expect(discoveryAddresses(of: "op.test") == [])
    }

    @Test("the configured issuer may differ from the discovered one by a slash at the end, and by nothing else")
    func issuers() throws {
        for (configured, found, isSame) in [
            ("https://op.test", "https://op.test", true), ("https://op.test", "https://op.test/", true),
            ("https://op.test/", "https://op.test", true), ("https://op.test", "https://op.test//", false),
            ("https://op.test", "https://OP.test", false), ("https://op.test", "http://op.test", false),
            ("https://op.test/a", "https://op.test/b", false), ("https://op.test", "", false),
        ] {
            let read = try outcome(#"{"issuer":"\#(found)"}"#, issuer: configured)
            switch read {
            case .success(let metadata): #expect(isSame && metadata.issuer == found)
            case .failure(let fault): #expect(!isSame && fault == .issuer(configured: configured, found: found))
            }
        }
    }

    @Test("what is no metadata is refused with a sentence")
    func faults() throws {
        for (text, fault) in [
            ("", MetadataFault.notJSON), ("<!DOCTYPE html>", .notJSON), ("[]", .notJSON), ("{}", .noIssuer),
            (#"{"issuer":7}"#, .noIssuer), (String(repeating: " ", count: 262_145), .tooLong),
        ] {
            guard case .failure(let found) = try outcome(text) else {
                Issue.record("metadata were taken")
                continue
            }
            #expect(found == fault)
        }
    }

    @Test("endpoints, lists and aliases are read; a URL that cannot be taken costs only itself")
    func document() throws {
        let metadata = try outcome(
            """
            \u{FEFF}{"issuer":"https://op.test","token_endpoint":"https://op.test//oauth//token?a=b",
            "jwks_uri":"http://169.254.169.254/","userinfo_endpoint":"https://10.0.0.7/me","revocation_endpoint":"",
            "authorization_endpoint":"https://login.other.test/authorize","odd":1e400,
            "id_token_signing_alg_values_supported":["RS256",7,"ES256"],"scopes_supported":"openid",
            "code_challenge_methods_supported":["plain","S256"],"authorization_response_iss_parameter_supported":true,
            "mtls_endpoint_aliases":{"token_endpoint":"https://mtls.op.test/token","jwks_uri":"http://a.test/"}}
            """
        ).get()
        #expect(metadata.endpoints[.token]?.text == "https://op.test//oauth//token?a=b")
        #expect(metadata.endpoints[.authorization]?.text == "https://login.other.test/authorize")
        #expect(metadata.refused == [.keys: .plain, .userinfo: .address])
        #expect(metadata.endpoints.count == 2 && metadata.endpoints[.revocation] == nil)
        #expect(metadata.certificateEndpoints.mapValues(\.text) == [.token: "https://mtls.op.test/token"])
        #expect(metadata.place(.token, showingCertificate: true)?.text == "https://mtls.op.test/token")
        for isShowing in [false, true] {
            let place = metadata.place(.userinfo, showingCertificate: isShowing)
            #expect(
                place?.text == metadata.endpoints[.userinfo]?.text,
                "one without an alias is asked where everybody asks")
        }
        #expect(
            metadata.place(.token, showingCertificate: false)?.text == metadata.endpoints[.token]?.text)
        #expect(metadata.idTokenAlgorithms == ["RS256", "ES256"] && metadata.told(.scopes) == nil)
        #expect(metadata.hasS256 && metadata.namesIssuerInAnswers)
        let bare = try outcome(#"{"issuer":"https://op.test"}"#).get()
        #expect(bare.idTokenAlgorithms == ["RS256"] && bare.authenticationMethods == ["client_secret_basic"])
        #expect(!bare.hasS256 && !bare.namesIssuerInAnswers)
    }

    @Test("lists are cut at a hundred texts of 200 bytes")
    func bounds() throws {
        let many = (0..<150).map { "\"s\($0)\"" }.joined(separator: ",")
        let long = String(repeating: "x", count: 201)
        let metadata = try outcome(#"{"issuer":"https://op.test","scopes_supported":["\#(long)",\#(many)]}"#).get()
        #expect(metadata.told(.scopes)?.count == 99 && metadata.told(.scopes)?.first == "s0")
    }

    @Test("a URL that a provider tells is on its own host, public, or allowed by name")
    func rule() throws {
        #expect(try fault("https://op.test/token") == nil)
        #expect(try fault("https://other.test/token") == nil)
        #expect(try fault("https://8.8.8.8/") == nil)
        for url in ["http://op.test/", "http://8.8.8.8/"] { #expect(try fault(url) == .plain) }
        for url in [
            "https://10.0.0.1/", "https://127.0.0.1/", "https://[::1]/", "https://localhost/",
            "https://169.254.169.254/",
            "https://[fd00:ec2::254]/", "http://localhost:8080/", "http://127.0.0.1/", "https://[::ffff:10.0.0.1]/",
        ] {
            #expect(try fault(url) == .address, "\(url)")
        }
        #expect(try fault("https://10.0.0.1/", hosts: ["10.0.0.1"]) == nil)
        #expect(try fault("https://Inner.test/", hosts: ["inner.TEST"]) == nil)
        #expect(try fault("https://169.254.169.254/", hosts: ["169.254.169.254"]) == .address)
        // The issuer's own host may be private, on any port.
        #expect(try fault("http://127.0.0.1:9/keys", issuer: "http://127.0.0.1:8080") == nil)
        #expect(try fault("https://10.0.0.7/keys", issuer: "https://10.0.0.7") == nil)
        for url in [
            "", "op.test", "ftp://op.test/", "https://a:b@op.test/", "https://op.test/#x", "https://op.test/\n",
            "https://op.test/é", "file:///etc/passwd", "https://" + String(repeating: "a", count: 2048),
        ] {
            #expect(try fault(url) == .noURL, "\(url.prefix(40))")
        }
        #expect(EndpointRule(issuer: "http://op.test", allowedHosts: []) == nil)
    }

    @Test("a host beside the issuer's is dialled at public addresses only")
    func dialled() throws {
        let rule = try #require(EndpointRule(issuer: "https://op.test", allowedHosts: ["inner.test"]))
        let inner = try #require(IPAddress("10.1.2.3"))
        #expect(try rule.check("https://op.test/").addresses.allows(inner))
        #expect(try rule.check("https://inner.test/").addresses.allows(inner))
        #expect(try !rule.check("https://other.test/").addresses.allows(inner))
    }
}

@Suite struct CacheLifetimeTests {
    @Test("max-age less Age counts, and what may not be kept is kept for no time")
    func table() {
        for (control, age, expected) in [
            (["max-age=600"], nil, Duration.seconds(600)), (["public, MAX-AGE = \"60\""], "20", .seconds(40)),
            (["max-age=60"], "90", .zero), (["no-store"], nil, .zero), (["max-age=60", "no-cache"], nil, .zero),
            ([], nil, nil), (["public"], nil, nil), (["max-age=-1"], nil, nil), (["max-age="], nil, nil),
            (["max-age=99999999999999999999"], nil, .seconds(1 << 31)), (["max-age=60"], "x", .seconds(60)),
        ] as [([String], String?, Duration?)] {
            #expect(cacheLifetime(cacheControl: control, age: age) == expected, "\(control)")
        }
    }
}
