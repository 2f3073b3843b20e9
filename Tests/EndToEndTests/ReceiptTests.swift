// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import NativeCrypto
import NativeCurl
import NativeJSON
import Settings
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("Receipts")
struct ReceiptTests {
    private static let notices = """
        notices:
          - { id: signup, version: "3", controller: Shop, privacy_policy: "https://shop.example/privacy",
              purposes: [Account], jurisdiction: DE }
        """

    private func with(_ body: (TestGateway, String) async throws -> Void) async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url, sections: ReceiptTests.notices) { gateway in
            let made = try await gateway.post(code: "c", subject: "user-42", query: "&notice=signup@3")
            try await body(gateway, try #require(made.id))
        }
    }

    /// Checks a token with the gateway's published keys, as a holder of it would.
    private func payload(_ token: [UInt8], _ gateway: TestGateway) async throws -> JSONValue {
        let parts = String(decoding: token, as: UTF8.self).split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let header = try JSONValue.parse(try #require(Base64.urlSafe.bytes(of: parts[0])), as: .callers)
        #expect(header["alg"]?.string == "ES256")
        #expect(header["typ"]?.string == "consent-receipt+jwt")
        // For anyone: the key of the call is no key of this gateway.
        let published = try await gateway.call(.get, "/.well-known/receipt-keys.json", key: "cgk_none_x")
        #expect(published.status == 200)
        #expect(published.headers["cache-control"] == "no-store")
        let key = try #require(published.json["keys"]?.array?.first { $0["kid"]?.string == header["kid"]?.string })
        let coordinates = ["x", "y"].map { key[$0]?.string.flatMap(Base64.urlSafe.bytes) ?? [] }
        let publicKey = try #require(ES256PublicKey(x: coordinates[0], y: coordinates[1]))
        let signature = try #require(Base64.urlSafe.bytes(of: parts[2]))
        #expect(publicKey.isSignature(signature, over: Array("\(parts[0]).\(parts[1])".utf8)))
        #expect(!publicKey.isSignature(signature, over: Array("\(parts[0]).\(parts[1])A".utf8)))
        return try JSONValue.parse(try #require(Base64.urlSafe.bytes(of: parts[1])), as: .callers)
    }

    @Test("a receipt is answered in the form that is asked for, the signed one checks with the published keys")
    func forms() async throws {
        try await with { gateway, id in
            let path = "/v1/consents/\(id)/receipt"
            for (accept, type) in [
                ("*/*", "application/json"), ("application/ld+json", "application/ld+json"),
                ("application/json", "application/json"),
            ] {
                let answer = try await gateway.call(.get, path, headers: [("Accept", accept)])
                #expect(answer.status == 200)
                #expect(answer.headers["content-type"] == type)
                #expect(answer.headers["cache-control"] == "no-store")
                #expect(answer.headers["vary"] == "Accept")
                #expect(answer.json["@id"]?.string == gateway.serving.place.settings.server.publicURL + path)
                let record = answer.json["dpv:hasRecordOfActivity"]
                #expect(record?["dpv:hasDataSubject"]?["dct:identifier"]?.string == "user-42")
                #expect(record?["dpv:hasDataController"]?["dpv:hasName"]?.string == "Shop")
                #expect(record?["dpv:hasNotice"]?["dct:identifier"]?.string == "signup@3")
                let head = try await gateway.events(id).last
                #expect(record?["gateway:ledgerHead"]?["gateway:seq"]?.integer == head?.sequence)
                #expect(
                    record?["gateway:ledgerHead"]?["gateway:mac"]?.string == head.map { Hexadecimal.text(of: $0.mac) })
            }
            let signed = try await gateway.exchange(.get, path, headers: [("Accept", "application/jwt")])
            #expect(signed.status == 200)
            #expect(signed.headers["content-type"] == "application/jwt")
            let claims = try await payload(signed.body, gateway)
            #expect(claims["iss"]?.string == gateway.serving.place.settings.server.publicURL)
            #expect(claims["iat"]?.integer ?? 0 > 1_700_000_000)
            #expect(claims["@type"]?.string == "dpv:ConsentReceipt")
            let refused = try await gateway.call(.get, path, headers: [("Accept", "text/html")])
            #expect(refused.status == 406)
            #expect(refused.code == "not_acceptable")
        }
    }

    @Test("reading a receipt is no event, and holds no attribute and no token")
    func quiet() async throws {
        try await with { gateway, id in
            let before = try await gateway.events(id).count
            let answer = try await gateway.exchange(.get, "/v1/consents/\(id)/receipt")
            #expect(try await gateway.events(id).count == before)
            let text = String(decoding: answer.body, as: UTF8.self)
            for word in ["canary", "Canary", "@example", "provider_subject"] {
                #expect(!text.contains(word), "\(word)")
            }
        }
    }

    @Test("after a withdrawal the receipt tells it and its time")
    func withdrawn() async throws {
        try await with { gateway, id in
            #expect(try await gateway.raw("DELETE", "/v1/consents/\(id)").status == 200)
            let answer = try await gateway.call(.get, "/v1/consents/\(id)/receipt")
            let record = try #require(answer.json["dpv:hasRecordOfActivity"])
            let step = try #require(record["dpv:hasConsentStatus"]?.array?.last)
            #expect(step["@type"]?.array?.map(\.string) == ["dpv:ConsentWithdrawn"])
            let event = try #require(try await gateway.events(id).first { $0.draft.type == .revoked })
            #expect(step["dpv:isIndicatedAtTime"]?.string == event.draft.at.text)
            #expect(record["gateway:status"]?.string == "revoked")
        }
    }

    @Test("of what is not there the answer is the same bytes as of any record, in each form")
    func notFound() async throws {
        try await with { gateway, _ in
            let fixed: [(name: String, value: String)] = [("X-Request-Id", "r-1")]
            let record = try await gateway.exchange(.get, "/v1/consents/\(CallerTests.id)", headers: fixed)
            #expect(record.status == 404)
            for path in ["/v1/consents/\(CallerTests.id)/receipt", "/v1/consents/cns_1/receipt"] {
                for accept in ["application/json", "application/jwt"] {
                    let other = try await gateway.exchange(.get, path, headers: fixed + [("Accept", accept)])
                    #expect(other.status == 404)
                    #expect(other.body == record.body)
                }
            }
        }
    }
}
