// SPDX-License-Identifier: Apache-2.0
import ConsentStores
import Consents
import HTTPEdge
import NativeCurl
import NativeJSON
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
}
