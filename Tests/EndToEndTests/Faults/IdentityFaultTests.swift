// SPDX-License-Identifier: Apache-2.0
import NativeCurl
import NativeEventLoop
import NativeJSON
import NativeSystem
import SimulatedProvider
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("What the gateway makes of faults in ID tokens, keys and discovery")
struct IdentityFaultTests {
    private static let groups: Set = ["ID tokens", "Signatures and keys of ID tokens", "Discovery and key sets"]

    @Test("every fault of an ID token, a key set and a discovery has a case, and each says what a refresh makes of it")
    func whole() {
        let faults = FaultTable.list.filter { IdentityFaultTests.groups.contains($0.group) }
        #expect(faults.map(\.name) == IdentityFaults.all.map(\.name))
        for (fault, item) in zip(faults, IdentityFaults.all) {
            #expect(fault.places.contains(.refresh) == (item.refresh != nil), "\(item.name)")
        }
    }

    /// Runs `body` with a simulated provider that signs, and a gateway that finds it by its issuer.
    /// - Parameter fault: one that is there from the start.
    private static func with(_ fault: String?, _ body: (TestGateway, SimulatedProvider) async throws -> Void)
        async throws
    {
        let loops = try EventLoopGroup.start(name: "simulated", count: 1)
        defer { loops.stop() }
        var options = SimulatorOptions()
        options.signingKeys = try .init(.es256)
        let provider = try await SimulatedProvider.start(
            on: loops, host: "127.0.0.1", port: 0, options: options, random: SecureGenerator(),
            milliseconds: wallClockMilliseconds)
        if let fault { try provider.setFault(fault, times: nil) }
        let section = """
              acme:
                issuer: \(provider.url)
                client_id: simulated-client
                client_secret: simulated-secret
                scopes: [openid, email]
                pkce: optional
                redirect_uri: com.acme.app:/cb
                profile: { max_age: 1ms }
                timeouts: { connect: 3s, total: 6s, answer: 8s }
            """
        let result: Result<Void, any Error>
        do {
            try await TestGateway.with(provider: provider.url, sections: section) { gateway async throws in
                try await body(gateway, provider)
                expectNoSecret(in: gateway.log.text, "the log")
            }
            result = .success(())
        } catch { result = .failure(error) }
        await provider.stop()
        try result.get()
    }

    @Test("an exchange: the answer and its reason, the record, its trail, the tokens", arguments: IdentityFaults.all)
    func exchange(_ item: IdentityFault) async throws {
        // Documents are asked for at the start.
        try await IdentityFaultTests.with(item.refresh == nil ? item.name : nil) { gateway, provider in
            if item.refresh != nil {
                // Its keys are known by then, and a moment old.
                let first = provider.issueCode(nonce: nil, challenge: nil)
                #expect(try await gateway.exchange(first, subject: "user-0").status == 201)
                try provider.setFault(item.name, times: nil)
            }
            let code = provider.issueCode(nonce: "nonce-canary-1", challenge: nil)
            let answer = try await gateway.exchange(code, nonce: "nonce-canary-1")
            switch item.exchange {
            case .kept:
                #expect(answer.status == 201, "\(answer.text)")
                try await IdentityFaultTests.expectRecord(answer, in: gateway)
            case .refused(let reason):
                for answer in [answer, try await gateway.exchange(code, nonce: "nonce-canary-1")] {
                    #expect(answer.status == 422 && answer.code == "id_token_invalid", "\(answer.text)")
                    let detail = answer.json["detail"]?.string ?? ""
                    let isSaid = item.name == "id_token_issuer" ? detail.contains("iss is ") : detail.contains(reason)
                    #expect(isSaid, "\(detail)")
                    #expect(answer.headers["retry-after"] == nil)
                }
                #expect(try await gateway.call(.get, "/v1/consents?subject=user-1").json["items"]?.count == 0)
                #expect(try IDTokenTests.quarantined(gateway) == 1)
            case .pending:
                #expect(answer.status == 503 && answer.code == "exchange_pending", "\(answer.text)")
                #expect(answer.headers["retry-after"] == "2")
                provider.clearFaults()
                try await IdentityFaultTests.expectRecord(
                    try await IdentityFaultTests.again(code, in: gateway), in: gateway)
            case .unspent:
                #expect(answer.status == 503 && answer.code == "provider_unavailable", "\(answer.text)")
                #expect(answer.headers["retry-after"] != nil && provider.sendings(ofCode: code).sent == 0)
                provider.clearFaults()
                try await IdentityFaultTests.expectRecord(
                    try await IdentityFaultTests.again(code, in: gateway), in: gateway)
            }
            #expect(provider.sendings(ofCode: code) == Sendings(sent: 1, taken: 1))
            #expect(provider.calls(of: .revoke) == 0)
        }
    }

    /// The same request until it is answered otherwise than 503.
    private static func again(_ code: String, in gateway: TestGateway) async throws -> TestAnswer {
        let end = MonotonicInstant.now().advanced(by: .seconds(40))
        while true {
            let answer = try await gateway.exchange(code, nonce: "nonce-canary-1")
            guard answer.status == 503, MonotonicInstant.now() < end else { return answer }
            try gateway.forgetProviderStates()
        }
    }

    private static func expectRecord(_ answer: TestAnswer, in gateway: TestGateway) async throws {
        #expect([200, 201].contains(answer.status), "\(answer.text)")
        #expect(answer.json["status"]?.string == "active" && answer.json["profile_status"]?.string == "current")
        #expect(answer.json["provider_subject"]?.string == People.first.userID)
        // Whose keys were fetched before is the same person under another subject.
        let types = try await gateway.eventTypes(answer.id).filter { $0 != "security.provider_subject_shared" }
        #expect(types == ["consent.created"])
    }

    @Test(
        "a refresh: 200 whatever the ID token says, the trail tells, and the tokens are the next refresh's",
        arguments: IdentityFaults.all.filter { $0.refresh != nil })
    func refresh(_ item: IdentityFault) async throws {
        try await IdentityFaultTests.with(nil) { gateway, provider in
            let code = provider.issueCode(nonce: "nonce-canary-1", challenge: nil)
            let made = try await gateway.exchange(code, nonce: "nonce-canary-1")
            let id = try #require(made.id, "\(made.text)")
            let asked = provider.calls(of: .userinfo)
            try provider.setFault(item.name, times: nil)
            let record = try await gateway.refresh(id)
            #expect(record.status == 200 && record.json["status"]?.string == "active", "\(record.text)")
            #expect(record.json["provider_subject"] == made.json["provider_subject"])
            let told = try await gateway.eventTypes(id).filter { $0.hasPrefix("security.") }
            #expect(told == (item.refresh == .nothing ? [] : [item.refresh?.rawValue ?? ""]))
            // Whoever is told of so is not asked about with those tokens.
            #expect((provider.calls(of: .userinfo) == asked) == (item.refresh != .nothing))
            provider.clearFaults()
            #expect(try await gateway.refresh(id).status == 200)
            #expect(provider.calls(of: .revoke) == 0)
        }
    }
}
