// SPDX-License-Identifier: Apache-2.0
import NativeHTTPServer
import NativeSystem
import Testing

@Suite("Requests and answers in print")
struct PrintingTests {
    @Test("nothing of a request or an answer shows when it is printed")
    func harmless() {
        let head = HTTPRequestHead(
            method: "POST", rawPath: Array("/SSSS".utf8), rawQuery: Array("SSSS".utf8),
            headers: HTTPHeaders([("SSSS", "SSSS")]), peer: PeerAddress(text: "::1", bytes: [1], port: 1),
            receivedAt: .now())
        let request = HTTPRequest(head: head, body: Array("SSSS".utf8))
        let answer = HTTPResponse(status: 200, headers: [("SSSS", "SSSS")], body: Array("SSSS".utf8))
        var text = "\(head)\n\(request)\n\(answer)\n\(head.headers)\n\(String(reflecting: (head, request, answer)))\n"
        dump((head, request, answer, head.headers), to: &text)
        #expect(text.hasPrefix("POST, 1 header fields\nPOST, 1 header fields, 4 bytes\nstatus 200, 4 bytes\n"))
        // As text, and as the numbers of the bytes.
        #expect(!text.contains("SS") && !text.contains("83"))
    }
}
