// SPDX-License-Identifier: Apache-2.0
import NativeJSON
import SimulatedProvider
import Testing

@Suite("Codes of the simulated provider")
struct CodeTests {
    @Test("a code brings tokens once, and the second time PayPal's answer to a dead code")
    func once() throws {
        let bench = Bench()
        let code = bench.code()
        let first = try #require(bench.redeem(code))
        #expect(first.status == 200)
        #expect(first.text("token_type") == "Bearer")
        #expect(first.json?["expires_in"]?.integer == 900)
        #expect(first.text("app_id") != nil && first.text("nonce") != nil && first.text("refresh_token") != nil)
        #expect(first.text("scope")?.hasPrefix("openid profile email") == true)
        #expect(first.json?["id_token"] == nil)
        let second = try #require(bench.redeem(code))
        #expect(second.status == 400)
        #expect(second.text("error") == "access_denied")
        #expect(second.text("error_description") == "Invalid authorization code")
        let correlation = try #require(second.text("correlation_id"))
        #expect(correlation.utf8.count == 13 && second.field("Paypal-Debug-Id") == correlation)
    }

    @Test("a code is dead three minutes after it was issued")
    func expiry() {
        let bench = Bench()
        let (inTime, late) = (bench.code(), bench.code())
        bench.now += 179_999
        #expect(bench.redeem(inTime)?.status == 200)
        bench.now += 1
        #expect(bench.redeem(late)?.text("error") == "access_denied")
    }

    @Test("a code that names its person works once without having been issued, and brings that person's profile")
    func selfMade() {
        let bench = Bench()
        let reply = bench.redeem("code-for:bob:xyz")
        #expect(bench.userinfo(reply?.text("access_token"))?.text("email") == "bob@example.test")
        #expect(bench.redeem("code-for:bob:xyz")?.text("error") == "access_denied")
        #expect(bench.redeem("code-for:somebody-77:1")?.status == 200)
        #expect(bench.redeem("never-issued")?.text("error") == "access_denied")
    }

    @Test("where self-made codes are not taken, only issued ones work")
    func issuedOnly() {
        let bench = Bench { $0.takesSelfMadeCodes = false }
        #expect(bench.redeem("code-for:bob:xyz")?.status == 400)
        #expect(bench.redeem(bench.code(for: "bob"))?.status == 200)
    }

    @Test("the documented sample code works for ever, as the mock environment's does")
    func constant() {
        let bench = Bench()
        for _ in 0..<3 { #expect(bench.redeem("EBYhRW3ncivudQn8UopLp4A28xIlqPDp")?.status == 200) }
    }

    @Test("a code that was issued to one client is dead for another")
    func otherClient() {
        let bench = Bench { $0.clients["other"] = "s" }
        let code = bench.control("/simulator/codes", #"{"client_id":"other"}"#)?.text("code") ?? ""
        #expect(bench.redeem(code)?.text("error") == "access_denied")
    }

    @Test("of more codes than are remembered the oldest is forgotten")
    func capacity() {
        let bench = Bench {
            $0.capacity = 2
            $0.takesSelfMadeCodes = false
        }
        let codes = [bench.code(), bench.code(), bench.code()]
        #expect(bench.redeem(codes[0])?.status == 400)
        #expect(bench.redeem(codes[1])?.status == 200)
        #expect(bench.redeem(codes[2])?.status == 200)
    }

    @Test("a fresh code comes with the SDK's answer around it")
    func sdkAnswer() {
        let bench = Bench()
        let reply = bench.control("/simulator/codes", #"{"person":"carla","environment":"sandbox"}"#)
        let authorization = reply?.json?["authorization"]
        #expect(reply?.status == 201)
        #expect(authorization?["response"]?["code"]?.string == reply?.text("code"))
        #expect(authorization?["response_type"]?.string == "authorization_code")
        #expect(authorization?["client"]?["environment"]?.string == "sandbox")
    }
}
