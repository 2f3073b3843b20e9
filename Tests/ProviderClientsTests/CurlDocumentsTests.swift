// SPDX-License-Identifier: Apache-2.0
import Consents
import IdentityTokens
import NativeCurl
import NativeEventLoop
import TestSupport
import Testing

@testable import ProviderClients

private func fetch(_ path: String = "/keys", _ reply: ScriptedReply) async throws -> (DocumentAnswer, String) {
    let provider = try TestSupport.ScriptedProvider { _ in reply }
    defer { provider.stop() }
    let loop = try EventLoop.start(name: "test")
    defer { loop.stop() }
    let client = try CurlClient(loop: loop, configuration: CurlConfiguration())
    let documents = CurlDocuments(connectTimeout: .seconds(5), timeout: .seconds(10), clock: nil) { client }
    let answer = await documents.get(ProviderURL(text: provider.url + path, addresses: .any))
    await client.stop()
    return (answer, provider.requests.first?.text ?? "")
}

private func word(_ answer: DocumentAnswer) -> String {
    switch answer {
    case .document(let body, let lifetime): "\(String(decoding: body, as: UTF8.self)) \(lifetime as Duration?)"
    case .failed(let fault): "\(fault)"
    }
}

@Suite struct CurlDocumentsTests {
    @Test("a document is asked for as JSON, and kept as long as its headers say")
    func document() async throws {
        let (answer, request) = try await fetch(
            "//keys?x=1", .http(200, "{}", fields: ["cache-control: public, Max-Age=7200", "Age: 200"]))
        #expect(word(answer) == "{} \(Duration.seconds(7000) as Duration?)")
        #expect(
            request.hasPrefix("GET //keys?x=1 HTTP/1.1\r\n") && request.contains("\r\nAccept: application/json\r\n"))
    }

    @Test("another status, a redirect, a cut answer and one that is too long are faults")
    func faults() async throws {
        let long = String(repeating: " ", count: 262_145)
        for (reply, fault) in [
            (ScriptedReply.http(503, "{}"), DocumentFault.status(503)), (.http(204, ""), .status(204)),
            (.http(302, "", fields: ["Location: http://127.0.0.1:1/"]), .status(302)), (.http(200, long), .tooLong),
            (.http(200, "{\"keys\":[]}").cut(after: 80, then: .close), .noAnswer), (.silence(then: .reset), .noAnswer),
        ] {
            #expect(word(try await fetch("/keys", reply).0) == "\(fault)")
        }
    }

    @Test("a loopback address is not dialled for a host that must be public")
    func address() async throws {
        let provider = try TestSupport.ScriptedProvider { _ in .http(200, "{}") }
        defer { provider.stop() }
        let loop = try EventLoop.start(name: "test")
        defer { loop.stop() }
        let client = try CurlClient(loop: loop, configuration: CurlConfiguration())
        let documents = CurlDocuments(connectTimeout: .seconds(5), timeout: .seconds(10), clock: nil) { client }
        let answer = await documents.get(ProviderURL(text: provider.url + "/", addresses: .publicOnly))
        await client.stop()
        #expect(word(answer) == "\(DocumentFault.notSent(.refusedAddress))")
        #expect(provider.requests.isEmpty)
    }

    @Test("a provider's clock is where its documents say, less the time that a cache has held them")
    func clock() {
        // Sun, 06 Nov 1994 08:49:37 GMT.
        let clock = ProviderClock(time: StoppedTime(now: Instant(milliseconds: 784_111_777_500)))
        #expect(clock.offset == nil)
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        for (told, age, expected) in [
            (date, nil, Int64(0)), ("Sun, 06 Nov 1994 08:59:37 GMT", nil, 600), (date, "90", 90),
            ("Sun, 06 Nov 1994 08:48:07 GMT", "90", 0), ("Sun, 06 Nov 1994 08:48:07 GMT", nil, -90),
            (date, "-5", 0), (date, "99999999999", 0), (date, "x", 0),
        ] as [(String, String?, Int64)] {
            clock.hear(date: told, age: age)
            #expect(clock.offset == .seconds(expected), "\(told) \(age ?? "")")
        }
        for odd in [nil, "", "now", "784111777"] as [String?] {
            clock.hear(date: odd, age: nil)
            #expect(clock.offset == .seconds(0), "\(odd ?? "")")
        }
    }
}

private struct StoppedTime: Timekeeper {
    let now: Instant
    var monotonic: Duration { .zero }
    var sinceBoot: Duration { .zero }
    func sleep(until monotonic: Duration) async throws(CancellationError) {}
}
