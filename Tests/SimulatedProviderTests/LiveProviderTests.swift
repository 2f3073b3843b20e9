// SPDX-License-Identifier: Apache-2.0
import NativeJSON
import NativeSystem
import SimulatedProvider
import TestSupport
import Testing

@Suite("The simulated provider over HTTP")
struct LiveProviderTests {
    @Test("a code, a profile and a refresh, each over a connection")
    func wholeWay() async throws {
        try await LiveProvider.run { live in
            let code = try live.provider.issueCode(person: "carla", scopes: nil, fault: nil)
            let answer = try await live.redeem(code)
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(answer.contains("\r\nContent-Type: application/json\r\n"))
            #expect(answer.contains("\r\nCache-Control: no-store\r\n"))
            let tokens = try json(in: answer)
            let profile = try await live.exchange(
                LiveProvider.get(
                    "/v1/identity/openidconnect/userinfo/?schema=openid",
                    bearer: tokens["access_token"]?.string ?? ""))
            #expect(try json(in: profile)["email"]?.string == "carla@example.test")
            let form = formText(["grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]?.string ?? ""])
            let refreshed = try await live.exchange(LiveProvider.post("/v1/oauth2/token", form, Bench.basic))
            #expect(try json(in: refreshed)["expires_in"]?.string == "900")
            #expect(live.provider.calls(of: .exchange) == 1 && live.provider.calls(of: .refresh) == 1)
            #expect(live.provider.sendings(ofCode: code) == Sendings(sent: 1, taken: 1))
            #expect(live.provider.takenCodes(limit: 10) == [code])
        }
    }

    @Test("a second sending of a code is refused and counted")
    func once() async throws {
        try await LiveProvider.run { live in
            let code = try live.provider.issueCode(person: nil, scopes: nil, fault: nil)
            #expect(try await live.redeem(code).hasPrefix("HTTP/1.1 200 "))
            let second = try await live.redeem(code)
            #expect(second.hasPrefix("HTTP/1.1 400 "))
            #expect(try json(in: second)["error"]?.string == "access_denied")
            #expect(live.provider.sendings(ofCode: code) == Sendings(sent: 2, taken: 1))
            #expect(live.provider.codesSentTwice == 1)
        }
    }

    @Test("codes end by the clock that was handed in")
    func clock() async throws {
        try await LiveProvider.run { live in
            let code = try live.provider.issueCode(person: nil, scopes: nil, fault: nil)
            live.clock.withLock { $0 += 180_000 }
            #expect(try await live.redeem(code).contains(#""error_description":"Invalid authorization code""#))
        }
    }

    @Test("a wrong secret is 401 in PayPal's words")
    func wrongSecret() async throws {
        try await LiveProvider.run { live in
            let answer = try await live.redeem("code-for:bob:1", basic: Bench.basic("simulated-client", "wrong"))
            #expect(answer.hasPrefix("HTTP/1.1 401 "))
            let body = try json(in: answer)
            #expect(body["error"]?.string == "invalid_client")
            #expect(body["error_description"]?.string == "Client Authentication failed")
            #expect(body["correlation_id"]?.string?.utf8.count == 13)
        }
    }

    @Test("a reused refresh token revokes the family")
    func reuse() async throws {
        try await LiveProvider.run {
            $0.refreshMode = .reuseDetection
        } _: { live in
            var token = try json(in: try await live.redeem("code-for:bob:1"))["refresh_token"]?.string ?? ""
            let first = token
            for (status, isReuse) in [("200", false), ("400", true), ("400", false)] {
                let form = formText(["grant_type": "refresh_token", "refresh_token": isReuse ? first : token])
                let answer = try await live.exchange(LiveProvider.post("/token", form, Bench.basic))
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
                token = try json(in: answer)["refresh_token"]?.string ?? token
            }
            #expect(live.provider.sendings(ofRefreshToken: first) == Sendings(sent: 2, taken: 1))
        }
    }

    @Test("a connection that is cut off ends without a byte, and the code is spent")
    func cutOff() async throws {
        try await LiveProvider.run { live in
            let code = try live.provider.issueCode(person: nil, scopes: nil, fault: "cut_off")
            #expect(try await live.redeem(code).isEmpty)
            #expect(live.provider.sendings(ofCode: code) == Sendings(sent: 1, taken: 1))
        }
    }

    @Test("a slow answer comes after its time, and another call is answered meanwhile")
    func slow() async throws {
        try await LiveProvider.run { live in
            let start = MonotonicInstant.now()
            let slow = try RawConnection(port: live.provider.port)
            let form = formText(["grant_type": "authorization_code", "code": "fault:slow=0.3:1"])
            try slow.send(LiveProvider.post("/v1/oauth2/token", form, Bench.basic))
            let other = try await live.redeem("code-for:bob:1")
            #expect(other.hasPrefix("HTTP/1.1 200 "))
            let answer = String(decoding: try await slow.readToEnd(), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 200 "))
            #expect(start.duration(to: .now()) >= .milliseconds(300))
        }
    }

    @Test("throttled, unavailable, blocked and dead answers have their bytes")
    func answers() async throws {
        try await LiveProvider.run { live in
            let throttled = try await live.redeem("fault:throttled=9:1")
            #expect(throttled.hasPrefix("HTTP/1.1 429 Too Many Requests\r\n"))
            #expect(throttled.contains("\r\nRetry-After: 9\r\n"))
            #expect(throttled.contains(#"{"name":"RATE_LIMIT_REACHED","message":"Too many requests. Blocked due to"#))
            #expect(try await live.redeem("fault:unavailable:1").hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            let page = try await live.redeem("fault:html:1")
            #expect(page.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(page.contains("\r\nContent-Type: application/json\r\n"))
            #expect(page.contains("\r\n\r\n<!DOCTYPE html>"))
            let dead = try json(in: try await live.redeem("fault:dead_code:1"))
            #expect(dead["error"]?.string == "access_denied")
        }
    }

    @Test("a fault that was set strikes as often as it was told")
    func setFault() async throws {
        try await LiveProvider.run { live in
            try live.provider.setFault("unavailable@exchange", times: 1)
            #expect(try await live.redeem("code-for:bob:1").hasPrefix("HTTP/1.1 503 "))
            #expect(try await live.redeem("code-for:bob:1").hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test("recorded calls have the bytes of each request, and only the newest are kept")
    func recorded() async throws {
        try await LiveProvider.run {
            $0.recordedCalls = 2
        } _: { live in
            for number in 1...3 { _ = try await live.redeem("code-for:bob:\(number)") }
            let calls = live.provider.recordedCalls
            #expect(calls.map(\.target) == ["/v1/oauth2/token", "/v1/oauth2/token"])
            #expect(calls.map { $0.form["code"] } == ["code-for:bob:2", "code-for:bob:3"])
            #expect(calls[0].body == Array("grant_type=authorization_code&code=code-for%3Abob%3A2".utf8))
            #expect(calls[0].field("authorization") == Bench.basic)
        }
    }

    @Test("discovery names the address that it was asked at")
    func discovery() async throws {
        try await LiveProvider.run { live in
            let answer = try await live.exchange(
                LiveProvider.get("/.well-known/openid-configuration", bearer: "none"))
            #expect(try json(in: answer)["issuer"]?.string == live.provider.url)
        }
    }
}
