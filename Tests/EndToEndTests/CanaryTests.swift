// SPDX-License-Identifier: Apache-2.0
import NativeCurl
import NativeJSON
import TestSupport
import Testing

/// `Tests/canary` searches what is gathered here, and fails where it does not find these harmless words in it.
@Suite("What the suite puts out is searched after it") struct CanaryTests {
    @Test("a word of a caller's is found in the log, in the answer and in the store")
    func gateway() async throws {
        let script = try PayPalScript()
        defer { script.provider.stop() }
        try await TestGateway.with(provider: script.provider.url) { gateway in
            let word = "expected-of-the-gateway"
            for channel in [Canary.Channel.log, .answers, .store] { Canary.expect(word, in: channel) }
            let body = #"{"provider":"paypal","subject":"user-42","response":{"code":"searched-for"}}"#
            let made = try await gateway.call(
                .post(Array(body.utf8)), "/v1/consents", headers: [("X-Request-Id", word)])
            #expect(made.status == 201)
            #expect(made.headers["x-request-id"] == word)
        }
    }

    @Test("what other programs write, and what this one prints")
    func programs() throws {
        let child = try ChildProcess(["/bin/echo", "expected-of-a-child"])
        Canary.expect("expected-of-a-child", in: .children)
        #expect(child.read() == Array("expected-of-a-child\n".utf8))
        Canary.expect("expected-on-the-console", in: .console)
        print("expected-on-the-console")
    }
}
