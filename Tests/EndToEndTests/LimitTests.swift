// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import HTTPEdge
import NativeCurl
import NativeJSON
import Observability
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("Limits")
struct LimitTests {
    @Test("a subject's exchanges are counted, the same code again is none, and what is refused was not sent")
    func exchanges() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url, limits: "exchanges_per_subject: 3/10m") { gateway in
            for number in 0..<3 {
                let answer = try await gateway.post(code: "c\(number)", subject: "u")
                #expect(answer.status == (number == 0 ? 201 : 200))
            }
            for _ in 0..<5 { #expect(try await gateway.post(code: "c1", subject: "u").status == 200) }
            let refused = try await gateway.post(code: "c3", subject: "u")
            #expect(refused.status == 429)
            #expect(refused.code == "rate_limited")
            #expect(Int(refused.headers["retry-after"] ?? "").map { (1...201).contains($0) } == true)
            #expect(script.count(of: .exchange) == 3)
            #expect(try await gateway.post(code: "d", subject: "v").status == 201)
        }
    }

    @Test("a caller's requests are counted for each key by itself")
    func requests() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url, limits: "requests_per_caller: 5/1m") { gateway in
            for _ in 0..<5 { #expect(try await gateway.record(CallerTests.id).status == 404) }
            #expect(try await gateway.record(CallerTests.id).code == "rate_limited")
            let other = APIKey.make(
                name: "other", scopes: [.consentsRead], lifetime: nil, now: gateway.serving.place.time.now)
            try await gateway.serving.gateway.store.createAPIKey(other.key)
            try await gateway.serving.callers.reload()
            let answer = try await gateway.call(
                .get, "/v1/consents/\(CallerTests.id)", key: other.text.reveal())
            #expect(answer.status == 404)
        }
    }

    @Test("an address that guesses keys is told to wait, and a good key from there is not")
    func logins() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        let limits = "failed_logins_per_address: 3/1m"
        try await TestGateway.with(provider: script.provider.url, limits: limits) { gateway in
            var codes: [String?] = []
            for number in 0..<5 {
                codes.append(try await gateway.call(.get, "/v1/consents", key: "cgk_guess_\(number)").code)
            }
            #expect(codes.prefix(3).allSatisfy { $0 == "unauthenticated" })
            #expect(codes.suffix(2).allSatisfy { $0 == "rate_limited" })
            #expect(try await gateway.record(CallerTests.id).status == 404)
        }
    }

    @Test("failed logins of two addresses behind a trusted proxy are counted apart, and told apart in the log")
    func forwarded() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        let limits = "failed_logins_per_address: 2/10m"
        try await TestGateway.with(
            provider: script.provider.url, limits: limits, proxies: "127.0.0.0/8, 10.0.0.0/8"
        ) { gateway in
            for (forwarded, expected) in [
                ("203.0.113.1, 192.0.2.1", "unauthenticated"), ("203.0.113.2, 192.0.2.1, 10.0.0.7", "unauthenticated"),
                ("203.0.113.3, 192.0.2.1", "rate_limited"), ("192.0.2.2", "unauthenticated"),
                ("192.0.2.1, 192.0.2.2", "unauthenticated"), ("192.0.2.1, 192.0.2.2", "rate_limited"),
            ] {
                let answer = try await gateway.call(
                    .get, "/v1/consents", key: "cgk_guess_x", headers: [("X-Forwarded-For", forwarded)])
                #expect(answer.code == expected, "\(forwarded)")
            }
            let lines = gateway.log.lines.filter { $0.contains("request answered") }
            #expect(lines.filter { $0.contains(" peer=192.0.2.1 ") }.count == 3)
            #expect(lines.filter { $0.contains(" peer=192.0.2.2 ") }.count == 3)
        }
    }

    @Test("whoever has a whole IPv6 network is counted by it, and told in the log by the address")
    func networks() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        let limits = "failed_logins_per_address: 2/10m"
        try await TestGateway.with(provider: script.provider.url, limits: limits, proxies: "127.0.0.0/8") { gateway in
            for (address, expected) in [
                ("2001:db8:0:1::1", "unauthenticated"), ("2001:db8:0:1:ffff::2", "unauthenticated"),
                ("2001:db8:0:1::3", "rate_limited"), ("2001:db8:0:2::1", "unauthenticated"),
                ("::ffff:192.0.2.1", "unauthenticated"), ("::ffff:192.0.2.2", "unauthenticated"),
                ("::ffff:192.0.2.3", "unauthenticated"),
            ] {
                let answer = try await gateway.call(
                    .get, "/v1/consents", key: "cgk_guess_x", headers: [("X-Forwarded-For", address)])
                #expect(answer.code == expected, "\(address)")
            }
            #expect(gateway.log.text.contains(" peer=2001:db8:0:1:ffff::2 "))
        }
    }

    @Test("whoever is no trusted proxy is counted by their own address, whatever they write")
    func spoofed() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        let limits = "failed_logins_per_address: 2/10m"
        try await TestGateway.with(provider: script.provider.url, limits: limits, proxies: "10.0.0.0/8") { gateway in
            var codes: [String?] = []
            for number in 1...4 {
                let answer = try await gateway.call(
                    .get, "/v1/consents", key: "cgk_guess_x",
                    headers: [("X-Forwarded-For", "192.0.2.\(number), 10.0.0.\(number)")])
                codes.append(answer.code)
            }
            #expect(codes == ["unauthenticated", "unauthenticated", "rate_limited", "rate_limited"])
            let lines = gateway.log.lines.filter { $0.contains("request answered") }
            #expect(lines.allSatisfy { $0.contains(" peer=127.0.0.1 ") })
        }
    }
}
