// SPDX-License-Identifier: Apache-2.0
import Glibc
import NativeCurl
import NativeSystem
import Testing

@Suite("What is refused before a byte leaves", .timeLimit(.minutes(1)))
struct RefusalTests {
    private func fate(_ request: CurlRequest, _ configuration: CurlConfiguration = CurlConfiguration()) async throws
        -> NotSentReason?
    {
        try await withClient(configuration) { await $0.perform(request).notSent }
    }

    @Test(
        "a URL that is none, or of another scheme, is refused",
        arguments: [
            "", "127.0.0.1", "https://", "file:///etc/passwd", "ftp://127.0.0.1/", "https://user:pw@127.0.0.1/",
            "https://127.0.0.1:99999/", "https://a b/", "https://127.0.0.1/\0", "gopher://127.0.0.1/",
        ])
    func badURL(url: String) async throws {
        let fate = try await fate(.get(url))
        #expect(fate == .badURL, "\(url)")
    }

    @Test(
        "plain HTTP goes to loopback only",
        arguments: [
            "http://example.com/", "http://10.0.0.1/", "http://127.0.0.1.example.com/", "http://localhost.example.com/",
            "http://0.0.0.0/", "http://[::]/", "http://[::ffff:10.0.0.1]/", "HTTP://EXAMPLE.COM/", "http://167772161/",
        ])
    func plainHTTP(url: String) async throws {
        #expect(try await fate(.get(url)) == .plainHTTPRefused)
    }

    @Test("plain HTTP to loopback is served under each of its names", arguments: ["127.0.0.1", "localhost", "127.1"])
    func loopback(host: String) async throws {
        let server = serving(okay)
        defer { server.stop() }
        let result = try await withClient { await $0.perform(.get(server.url("/", host: host))) }
        #expect(result.answer?.address == "127.0.0.1")
    }

    @Test(
        "link-local and metadata addresses are never dialled",
        arguments: [
            "https://169.254.169.254/latest", "https://[fe80::1]/", "https://2852039166/", "https://0xA9FEA9FE/",
            "https://[::ffff:169.254.169.254]/", "https://[64:ff9b::a9fe:a9fe]/", "https://[fd00:ec2::254]/",
            "https://100.100.100.200/", "https://192.0.0.192/", "https://168.63.129.16/", "https://[fd20:ce::254]/",
        ])
    func linkLocal(url: String) async throws {
        #expect(try await fate(.get(url)) == .addressRefused)
    }

    @Test("an address that the caller's policy refuses is not dialled, nor used on a connection that stands")
    func policy() async throws {
        let server = serving(okay)
        defer { server.stop() }
        try await withClient { client in
            var request = CurlRequest.get(server.url("/literal"))
            request.addresses = .publicOnly
            #expect(await client.perform(request).notSent == .addressRefused)
            request.url = server.url("/name", host: "localhost")
            #expect(await client.perform(request).notSent == .addressRefused)
            request.addresses = .any
            request.url = server.url("/open", host: "localhost")
            #expect(await client.perform(request).answer?.status == 200)
            request.addresses = .publicOnly
            #expect(await client.perform(request).notSent == .addressRefused)
        }
        #expect(server.requests.map(\.target) == ["/open"])
    }

    @Test(
        "a header that would break out of its line refuses the request",
        arguments: [
            ("X", "a\r\nY: b"), ("X\r\nY", "a"), ("X", "a\0b"), ("", "a"), ("X:", "a"), ("X", "a\u{7F}"),
        ])
    func headerInjection(name: String, value: String) async throws {
        let server = serving(okay)
        defer { server.stop() }
        var request = CurlRequest.get(server.url("/"))
        request.headers = [(name, value)]
        #expect(try await fate(request) == .badRequest)
        #expect(server.requests.isEmpty)
    }

    @Test("a refused port is known at once")
    func refusedPort() async throws {
        let server = serving(okay)
        server.stop()
        let started = MonotonicInstant.now()
        #expect(try await fate(.spend(server.url("/"))) == .connect(.refused))
        #expect(started.duration(to: .now()) < .seconds(6))
    }

    @Test("a name that cannot be resolved is known as that")
    func resolve() async throws {
        // A label over 63 bytes: the resolver refuses it by itself, no query leaves.
        let name = String(repeating: "a", count: 64) + ".invalid"
        #expect(try await fate(.spend("https://\(name)/")) == .resolve)
    }

    @Test("more calls than allowed are refused")
    func tooMany() async throws {
        let asked = Event()
        let server = ScriptedServer { peer in
            while peer.readRequest() != nil { asked.signal() }
        }
        defer { server.stop() }
        var configuration = CurlConfiguration()
        configuration.calls = 1
        try await withClient(configuration) { client in
            async let first = client.perform(.get(server.url("/first")))
            await asked.happens()
            #expect(await client.perform(.get(server.url("/second"))).notSent == .tooManyCalls)
            await client.stop()
            _ = await first
        }
    }

    @Test("a proxy that will not connect us is named, and sees no byte of the request")
    func proxy() async throws {
        let proxy = serving("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n")
        defer { proxy.stop() }
        let configuration = CurlConfiguration(proxy: proxy.url(""), noProxy: ["direct.example"])
        #expect(try await fate(.spend("https://provider.example/token"), configuration) == .proxy)
        #expect(proxy.requests.map { $0.head.split(separator: "\r\n")[0] } == ["CONNECT provider.example:443 HTTP/1.1"])
        let nobody = CurlConfiguration(proxy: "http://127.0.0.1:1")
        #expect(try await fate(.spend("https://provider.example/token"), nobody) == .proxy)
    }

    @Test("the environment's proxies are never used")
    func environment() async throws {
        setenv("http_proxy", "http://127.0.0.1:1", 1)
        setenv("ALL_PROXY", "http://127.0.0.1:1", 1)
        defer {
            unsetenv("http_proxy")
            unsetenv("ALL_PROXY")
        }
        let server = serving(okay)
        defer { server.stop() }
        let result = try await withClient { await $0.perform(.get(server.url("/"))) }
        #expect(result.answer?.status == 200)
    }
}
