// SPDX-License-Identifier: Apache-2.0
import NativeHTTPServer
import NativeSystem
import Testing

@testable import HTTPEdge

@Suite("What a request is called")
struct RequestContextTests {
    private func identifier(_ given: String?) -> String {
        let fields = given.map { [("X-Request-Id", $0)] } ?? []
        let head = HTTPRequestHead(
            method: "GET", rawPath: Array("/".utf8), headers: HTTPHeaders(fields),
            peer: PeerAddress(text: "127.0.0.1", bytes: [127, 0, 0, 1], port: 1), receivedAt: .now())
        return RequestContext(head: head, proxies: .none, entropy: FixedEntropy(), time: StillTime()).requestID
    }

    @Test(
        "a caller's request id is taken where it can neither break a line nor carry much, else one is made",
        arguments: [
            "", "a b", "a\"b", "a=b", "a\u{1B}[2J", "a\u{85}b", "zoë", "a/b", "a@shop.example", "a%0A", "a,b",
            String(repeating: "a", count: 65),
        ])
    func identifiers(given: String) {
        let made = identifier(nil)
        #expect(made.utf8.count == 32)
        #expect(identifier(given) == made)
        for good in ["order-7", "A_b.9", String(repeating: "a", count: 64)] { #expect(identifier(good) == good) }
    }
}
