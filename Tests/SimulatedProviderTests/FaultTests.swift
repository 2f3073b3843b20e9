// SPDX-License-Identifier: Apache-2.0
import NativeHTTPServer
import NativeJSON
import SimulatedProvider
import Testing

@Suite("Faults of the simulated provider")
struct FaultTests {
    private func exchange(_ code: String) -> SimulatedCall {
        SimulatedCall(
            method: "POST", target: "/v1/oauth2/token", fields: [.init("Authorization", Bench.basic)],
            body: Array(formText(["grant_type": "authorization_code", "code": code]).utf8))
    }

    @Test("a slow call has its effect at once and its answer later")
    func slow() {
        let bench = Bench()
        guard case .answer(let answer, let delay) = bench.simulation.outcome(of: exchange("fault:slow=3:a"), at: 0)
        else { return #expect(Bool(false), "no answer") }
        #expect(delay == .seconds(3))
        #expect(answer.status == 200)
        #expect(bench.redeem("fault:slow=0:a")?.status == 200)
        #expect(bench.redeem("fault:slow=0:a")?.status == 400)
    }

    @Test("a connection that is cut off has cost the code")
    func cutOff() {
        let bench = Bench()
        let code = bench.code(fault: "cut_off@exchange")
        #expect(code.hasPrefix("fault:cut_off@exchange:code-for:alice:"))
        let outcome = bench.simulation.outcome(of: exchange(code), at: bench.now)
        #expect(outcome == .raw(RawAnswer([.bytes([])]), after: .zero))
        #expect(bench.get("/simulator/log")?.json?["codes"]?[0]?["taken"]?.integer == 1)
    }

    @Test(
        "a throttled, unavailable or blocked call leaves the code as it was",
        arguments: ["throttled=7", "unavailable", "html"])
    func noEffect(fault: String) throws {
        let bench = Bench()
        #expect(bench.control("/simulator/faults", "{\"fault\":\"\(fault)\",\"times\":1}")?.status == 200)
        let code = bench.code()
        let reply = try #require(bench.redeem(code))
        switch fault {
        case "throttled=7":
            #expect(reply.status == 429)
            #expect(reply.field("Retry-After") == "7")
            #expect(reply.text("name") == "RATE_LIMIT_REACHED")
        case "unavailable": #expect(reply.status == 503)
        default:
            #expect(reply.status == 200)
            #expect(reply.field("Content-Type") == "application/json")
            #expect(String(decoding: reply.body, as: UTF8.self).hasPrefix("<!DOCTYPE html>"))
        }
        #expect(bench.redeem(code)?.status == 200)
    }

    @Test("dead_code refuses in PayPal's words, but the client's own fault comes first")
    func deadCode() {
        let bench = Bench()
        #expect(bench.redeem("fault:dead_code:1")?.text("error") == "access_denied")
        let form: KeyValuePairs = ["grant_type": "authorization_code", "code": "fault:dead_code:1"]
        #expect(bench.post("/v1/oauth2/token", form, basic: nil)?.text("error") == "invalid_client")
        #expect(bench.post("/token", form)?.text("error") == "invalid_grant")
    }

    @Test("a code's fault strikes where it says: its refresh, its profile")
    func places() {
        let bench = Bench()
        let tokens = bench.redeem("fault:unavailable@refresh+userinfo:code-for:bob:1")
        #expect(tokens?.status == 200)
        #expect(bench.userinfo(tokens?.text("access_token"))?.status == 503)
        #expect(bench.refresh(tokens?.text("refresh_token"))?.status == 503)
        let others = bench.redeem("code-for:alice:1")
        #expect(bench.userinfo(others?.text("access_token"))?.status == 200)
    }

    @Test("a fault from the start strikes everybody until it is taken back")
    func fromTheStart() throws {
        let fault = try Fault("unavailable", asked: .globally)
        let bench = Bench { $0.fault = fault }
        #expect(bench.redeem(bench.code())?.status == 503)
        #expect(bench.get("/jwks")?.status == 503)
        #expect(bench.control("/simulator/faults", #"{"fault":null}"#)?.json?["set"]?.count == 0)
        #expect(bench.redeem(bench.code())?.status == 200)
    }

    @Test(
        "what names no fault is said to be none",
        arguments: [
            ("wind", FaultError.unknownFault("wind")), ("slow@moon", .unknownPlace("moon")),
            ("slow=fast", .badNumber("slow")), ("slow=-1", .badNumber("slow")), ("html=1", .badNumber("html")),
            ("slow=inf", .badNumber("slow")),
        ])
    func unknown(text: String, error: FaultError) {
        #expect(throws: error) { try Fault(text, asked: .globally) }
        let bench = Bench()
        #expect(bench.redeem("fault:\(text):1")?.text("error") == "invalid_request")
        #expect(bench.control("/simulator/faults", "{\"fault\":\"\(text)\"}")?.text("error") == "invalid_request")
    }

    @Test("every fault has a name of its own, a sentence and a place, and its number is in the sentence")
    func list() throws {
        let list = FaultTable.list
        #expect(Set(list.map(\.name)).count == list.count)
        for fault in list {
            #expect(fault.name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }, "\(fault.name)")
            #expect(!fault.places.isEmpty && fault.sentence.hasSuffix("."), "\(fault.name)")
            let takesNumber = (try? Fault(fault.name + "=1", asked: .globally)) != nil
            #expect(fault.sentence.contains("NUMBER") == takesNumber, "\(fault.name)")
            #expect((fault.number != nil) == takesNumber, "\(fault.name)")
            if let number = fault.number { #expect(fault.sentence.contains("(\(number))"), "\(fault.name)") }
            let made = try Fault(fault.name, asked: .globally)
            #expect(made.places == Set(fault.places))
        }
        #expect(list.first?.group == "Token answers of an odd shape")
    }

    @Test("a fault that the exchange does not know strikes where it can when a code asks for it")
    func byCode() throws {
        let profile = try Fault("sub_missing", asked: .byCode)
        #expect(profile.places == [.userinfo])
        let slow = try Fault("slow", asked: .byCode)
        #expect(slow.places == [.exchange])
        #expect(throws: FaultError.notThere("sub_missing", .refresh)) {
            try Fault("sub_missing@refresh", asked: .globally)
        }
    }

    @Test("revocation_late counts each grant's calls for itself")
    func late() {
        let bench = Bench()
        for name in ["a", "b"] {
            let token = bench.redeem("fault:revocation_late=2:\(name)")?.text("refresh_token") ?? ""
            let statuses = (0..<3).map { _ in bench.post("/revoke", ["token": token])?.status }
            #expect(statuses == [503, 503, 200])
        }
    }

    @Test("the log counts arrivals by endpoint, by code and by refresh token, each by its digest only")
    func log() throws {
        let bench = Bench()
        let code = "code-for:alice:1"
        let token = bench.redeem(code)?.text("refresh_token") ?? ""
        _ = bench.redeem(code)
        _ = bench.refresh(token)
        let log = try #require(bench.get("/simulator/log"))
        #expect(log.json?["calls"]?["exchange"]?.integer == 2)
        #expect(log.json?["calls"]?["refresh"]?.integer == 1)
        #expect(log.json?["codes_sent_twice"]?.integer == 1)
        #expect(log.json?["codes"]?[0]?["sent"]?.integer == 2)
        #expect(log.json?["codes"]?[0]?["taken"]?.integer == 1)
        #expect(log.json?["codes"]?[0]?["sha256"]?.string?.utf8.count == 64)
        #expect(log.json?["refresh_tokens"]?.count == 1)
        let text = String(decoding: log.body, as: UTF8.self)
        #expect(!text.contains(code) && !text.contains(token))
    }
}
