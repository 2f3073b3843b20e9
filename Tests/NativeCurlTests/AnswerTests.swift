// SPDX-License-Identifier: Apache-2.0
import NativeCurl
import Testing

@Suite("What servers answer", .timeLimit(.minutes(1)))
struct AnswerTests {
    private func ask(_ answer: [UInt8], path: String = "/") async throws -> CurlResult {
        let server = ScriptedServer { peer in
            if peer.readRequest() != nil { peer.write(answer) }
        }
        defer { server.stop() }
        return try await withClient { await $0.perform(.get(server.url(path))) }
    }

    private func ask(_ answer: String) async throws -> CurlResult { try await ask(Array(answer.utf8)) }

    @Test("a request is made of exactly the bytes that were asked for")
    func exactBytes() async throws {
        let server = serving(okay)
        defer { server.stop() }
        let body: [UInt8] = [0x61, 0, 0xFF, 0x0D, 0x0A, 0x62]
        try await withClient { client in
            var request = CurlRequest.get(server.url("/a/../b?c=%00&d=+"))
            request.headers = [("Authorization", "Basic YTpi"), ("X-Empty", ""), ("Accept", "application/json")]
            _ = await client.perform(request)
            request.method = .post(body)
            request.headers = []
            _ = await client.perform(request)
            request.method = .postForm([])
            _ = await client.perform(request)
            request.method = .get
            _ = await client.perform(request)
        }
        let start = " /a/../b?c=%00&d=+ HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"
        let accepts = "Accept: */*\r\nAccept-Encoding: gzip, deflate\r\n"
        #expect(
            server.requests.map(\.head) == [
                "GET" + start + "Accept-Encoding: gzip, deflate\r\nAuthorization: Basic YTpi\r\nX-Empty:\r\n"
                    + "Accept: application/json\r\n\r\n",
                "POST" + start + accepts + "Content-Length: 6\r\n\r\n",
                "POST" + start + accepts
                    + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 0\r\n\r\n",
                "GET" + start + accepts + "\r\n",
            ])
        #expect(server.requests.map(\.body) == [[], body, [], []])
    }

    @Test("a chunked answer is put together, its trailers left out")
    func chunked() async throws {
        let result = try await ask(
            "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\nX-A: 1\r\n\r\n"
                + "2\r\n{\"\r\n3\r\na\":\r\n2\r\n1}\r\n0\r\nX-Trailer: 1\r\n\r\n")
        #expect(result.answer?.status == 201)
        #expect(result.answer?.body == Array(#"{"a":1}"#.utf8))
        #expect(result.answer?.headers.all.map(\.name) == ["transfer-encoding", "x-a"])
    }

    @Test("a gzip answer is decoded")
    func gzip() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(squeezed.count)\r\n\r\n"
        let result = try await ask(Array(head.utf8) + squeezed)
        #expect(result.answer.map { String(decoding: $0.body, as: UTF8.self) } == #"{"token":"squeezed"}"#)
    }

    @Test("a broken gzip answer is an unknown outcome with its status")
    func brokenGzip() async throws {
        let result = try await ask("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope")
        guard case .unknown(.undecodable(status: 200)) = result else { throw Unexpected(result) }
    }

    @Test("what was decoded before a gzip answer breaks off is kept")
    func brokenChecksum() async throws {
        var broken = squeezed
        broken[broken.count - 8] ^= 0xFF
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(broken.count)\r\n\r\n"
        let result = try await ask(Array(head.utf8) + broken)
        guard case .unknown(.cutOff(let part)) = result else { throw Unexpected(result) }
        #expect(String(decoding: part.body, as: UTF8.self) == #"{"token":"squeezed"}"#)
    }

    @Test("an HTTP/1.0 answer ends with its connection")
    func oldHTTP() async throws {
        let result = try await ask("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nall of it")
        #expect(result.answer?.body == Array("all of it".utf8))
    }

    @Test("an interim answer is passed over")
    func interim() async throws {
        let result = try await ask("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + okay)
        #expect(result.answer?.status == 200)
        #expect(result.answer?.headers["link"] == nil)
    }

    @Test("an interim answer alone is none")
    func interimOnly() async throws {
        #expect(try await ask("HTTP/1.1 100 Continue\r\n\r\n").unknownName == "closedWithoutAnswer")
    }

    @Test("a Content-Length that promises more than comes is a cut answer, one that promises less ends it")
    func lyingLength() async throws {
        guard case .unknown(.cutOff(let part)) = try await ask("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{}") else {
            throw Unexpected()
        }
        #expect(part.status == 200 && part.body == Array("{}".utf8))
        #expect(try await ask("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}garbage").answer?.body == Array("{}".utf8))
    }

    @Test("an endless body is given up at the limit")
    func endlessBody() async throws {
        let server = ScriptedServer { peer in
            _ = peer.readRequest()
            peer.write("HTTP/1.1 200 OK\r\n\r\n")
            let piece = [UInt8](repeating: 0x20, count: 65_536)
            while peer.write(piece) {}
        }
        defer { server.stop() }
        let result = try await withClient { await $0.perform(.get(server.url("/"))) }
        guard case .unknown(.bodyTooLarge(200)) = result else { throw Unexpected(result) }
    }

    @Test("a body of just the limit is taken", arguments: [0, 1])
    func bodyLimit(excess: Int) async throws {
        let size = (1 << 20) + excess
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n"
        let result = try await ask(Array(head.utf8) + [UInt8](repeating: 0x61, count: size))
        #expect((result.answer?.body.count == size) == (excess == 0))
    }

    @Test("an endless head is given up")
    func endlessHead() async throws {
        let server = ScriptedServer { peer in
            _ = peer.readRequest()
            peer.write("HTTP/1.1 200 OK\r\n")
            let line = "X-Filler: \(String(repeating: "x", count: 1000))\r\n"
            while peer.write(line) {}
        }
        defer { server.stop() }
        let result = try await withClient { await $0.perform(.get(server.url("/"))) }
        #expect(result.unknownName == "protocolError")
    }

    @Test("what is no HTTP is no answer", arguments: ["SSH-2.0-x\r\n", "HTTP/0.9\r\n\r\n", "{\"access_token\":1}"])
    func noHTTP(text: String) async throws {
        #expect(try await ask(text).unknown != nil)
    }

    @Test("a redirect is an answer like any other, and is not followed", arguments: [301, 302, 303, 307, 308])
    func redirect(status: Int) async throws {
        let server = serving("HTTP/1.1 \(status) Moved\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n")
        defer { server.stop() }
        let result = try await withClient { await $0.perform(.spend(server.url("/"))) }
        #expect(result.answer?.status == status && result.answer?.headers["location"] == "/elsewhere")
        #expect(server.requests.map(\.target) == ["/"])
    }

    @Test("header names are lower case, values without blanks, in their order")
    func headers() async throws {
        let result = try await ask(
            "HTTP/1.1 429 Slow\r\nRetry-After:  7 \r\nSet-Cookie: a\r\nSET-COOKIE: b\r\nX:\r\nContent-Length: 0\r\n\r\n"
        )
        let headers = try #require(result.answer?.headers)
        #expect(headers["retry-after"] == "7" && headers["x"] == "" && headers["none"] == nil)
        #expect(headers.values(of: "set-cookie") == ["a", "b"])
        #expect(headers.all.map(\.name) == ["retry-after", "set-cookie", "set-cookie", "x", "content-length"])
    }

    @Test("nothing of a call shows when it is printed")
    func harmless() async throws {
        let server = serving("HTTP/1.1 200 OK\r\nX-S: SECRET\r\nContent-Length: 6\r\n\r\nSECRET")
        defer { server.stop() }
        let request = CurlRequest(
            method: .post(Array("SECRET".utf8)), url: server.url("/SECRET"), headers: [("a", "SECRET")],
            connectTimeout: .seconds(1), timeout: .seconds(5), spends: true)
        let result = try await withClient { await $0.perform(request) }
        let cut = try await ask("HTTP/1.1 200 OK\r\nX: SECRET\r\nContent-Length: 99\r\n\r\nSECRET")
        var text =
            "\(request)\(result)\(cut)\(String(reflecting: request))\(String(reflecting: result))\(request.method)"
        dump(request, to: &text)
        dump(result, to: &text)
        dump(cut, to: &text)
        #expect(!text.contains("SECRET") && !text.contains("83"))
    }
}

/// A test got something else than it asked for.
struct Unexpected: Error {
    let result: CurlResult?
    init(_ result: CurlResult? = nil) { self.result = result }
}

/// `{"token":"squeezed"}` in gzip.
private let squeezed: [UInt8] = [
    0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xAB, 0x56, 0x2A, 0xC9, 0xCF, 0x4E,
    0xCD, 0x53, 0xB2, 0x52, 0x2A, 0x2E, 0x2C, 0x4D, 0x4D, 0xAD, 0x4A, 0x4D, 0x51, 0xAA, 0x05, 0x00,
    0xDB, 0xC1, 0xB8, 0x97, 0x14, 0x00, 0x00, 0x00,
]
