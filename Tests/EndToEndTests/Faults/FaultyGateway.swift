// SPDX-License-Identifier: Apache-2.0
import NativeCurl
import NativeEventLoop
import NativeJSON
import NativeSystem
import SimulatedProvider
import TestSupport
import Testing

@testable import GatewayAssembly

/// A gateway that knows one simulated provider under many names, one for each case: what a fault does to a provider as
/// a whole then holds for its own case only.
struct FaultyGateway: Sendable {
    let gateway: TestGateway
    let provider: SimulatedProvider

    static func with(_ cases: [FaultCase], _ body: @escaping @Sendable (FaultyGateway) async throws -> Void)
        async throws
    {
        let loops = try EventLoopGroup.start(name: "simulated", count: 1)
        var options = SimulatorOptions()
        options.environment = "sandbox"
        options.recordedCalls = 0
        let provider = try await SimulatedProvider.start(
            on: loops, host: "127.0.0.1", port: 0, options: options, random: SecureGenerator(),
            milliseconds: wallClockMilliseconds)
        let sections = cases.enumerated().map { section($1, number: $0, url: provider.url) }.joined()
        let result: Result<Void, any Error>
        do {
            try await TestGateway.with(provider: provider.url, sections: sections) { gateway in
                try await body(FaultyGateway(gateway: gateway, provider: provider))
                #expect(provider.calls(of: .unknown) == 0, "a redirect or a claim's endpoint was followed")
                expectNoSecret(in: gateway.log.text, "the log")
            }
            result = .success(())
        } catch { result = .failure(error) }
        await provider.stop()
        loops.stop()
        try result.get()
    }

    /// Each case of `cases` with its number, some at a time.
    static func each(
        of cases: [FaultCase], _ body: @escaping @Sendable (FaultyGateway, FaultCase, Int) async throws -> Void
    ) async throws {
        try await with(cases) { faulty in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, item) in cases.enumerated() {
                    if number >= 24 { try await group.next() }
                    group.addTask { try await body(faulty, item, number) }
                }
                try await group.waitForAll()
            }
        }
    }

    private static func section(_ item: FaultCase, number: Int, url: String) -> String {
        let times = item.isLate ? "total: 2s, answer: 4s" : "total: 20s, answer: 30s"
        let kind =
            item.isGeneric
            ? """
                authorization_endpoint: \(url)/authorize
                token_endpoint: \(url)/token
                userinfo_endpoint: \(url)/userinfo
                id_token: ignored
                pkce: optional
            """
            : """
                preset: paypal
                environment: sandbox
                api_url: \(url)
                revocation_endpoint: \(url)/v1/identity/openidconnect/revoke
            """
        return """

              case\(number):
            \(kind)
                client_id: simulated-client
                client_secret: simulated-secret
                scopes: [openid, profile, email, address, phone]
                timeouts: { connect: 1s, \(times) }
            """
    }

    /// The code of a case at a place: a person of its own, whose attributes say `canary`.
    static func code(_ item: FaultCase, _ number: Int, at place: FaultPlace) -> String {
        "fault:\(item.fault)@\(place.rawValue):code-for:canary\(number):x"
    }

    func post(_ item: FaultCase, _ number: Int, at place: FaultPlace) async throws -> TestAnswer {
        let code = FaultyGateway.code(item, number, at: place)
        if item.isGeneric {
            let body = #"{"provider":"case\#(number)","subject":"s\#(number)","code":"\#(code)"}"#
            return try await gateway.call(.post(Array(body.utf8)), "/v1/consents")
        }
        return try await gateway.post(code: code, subject: "s\(number)", query: "&provider=case\(number)")
    }

    /// Posts again as long as the answer is said to be awaited, as an app does.
    func postToTheEnd(_ item: FaultCase, _ number: Int, at place: FaultPlace) async throws -> TestAnswer {
        let end = MonotonicInstant.now().advanced(by: .seconds(30))
        while true {
            let answer = try await post(item, number, at: place)
            guard answer.code == "exchange_pending", MonotonicInstant.now() < end else { return answer }
            #expect(answer.headers["retry-after"] == "2")
        }
    }

    /// Asks for the record until it is as wanted.
    func record(_ id: String, where isWanted: (JSONValue) -> Bool) async throws -> JSONValue {
        let end = MonotonicInstant.now().advanced(by: .seconds(20))
        while true {
            let record = try await gateway.record(id).json
            if isWanted(record) || MonotonicInstant.now() >= end { return record }
        }
    }
}

/// Tokens, codes and credentials of the simulated provider stand in no answer, no log line.
func expectNoSecret(in text: String, _ place: String) {
    for secret in ["A21AA0", "R23AA0", "simulated-secret", "c2ltdWxhdGVkLWNsaWVudDpzaW11bGF0ZWQtc2VjcmV0"] {
        #expect(!text.contains(secret), "\(secret) stands in \(place)")
    }
}

extension TestAnswer {
    var text: String { String(decoding: json.serialized(.compact), as: UTF8.self) }
}
