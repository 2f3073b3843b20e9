// SPDX-License-Identifier: Apache-2.0
import NativeCurl
import NativeEventLoop
import Testing

@Suite("A client's life")
struct LifeTests {
    @Test("a client that has called nobody goes without being stopped")
    func unused() throws {
        let loop = try EventLoop.start(name: "curl")
        weak var gone: CurlClient?
        do {
            let client = try CurlClient(loop: loop, configuration: CurlConfiguration())
            gone = client
        }
        #expect(gone == nil)
        loop.stop()
    }

    @Test("a client goes when it was stopped, whether it has called anybody or not", arguments: [false, true])
    func stopped(hasCalled: Bool) async throws {
        let loop = try EventLoop.start(name: "curl")
        weak var gone: CurlClient?
        do {
            let client = try CurlClient(loop: loop, configuration: CurlConfiguration())
            gone = client
            if hasCalled { _ = await client.perform(.get("http://127.0.0.1:1/")) }
            await client.stop()
            guard case .notSent(.stopped) = await client.perform(.get("http://127.0.0.1:1/")) else {
                Issue.record("it is stopped, and sends nothing")
                return
            }
        }
        loop.stop()
        #expect(gone == nil)
    }
}
