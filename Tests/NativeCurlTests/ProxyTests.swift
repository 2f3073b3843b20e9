// SPDX-License-Identifier: Apache-2.0
import NativeCurl
import Testing

@Suite("Through a proxy", .timeLimit(.minutes(1)))
struct ProxyTests {
    /// A proxy that connects whoever asks to that port, if the head has these words.
    private func proxy(to port: Int, wants words: String = "CONNECT ") -> ScriptedServer {
        ScriptedServer { peer in
            guard let asked = peer.readRequest() else { return }
            guard asked.head.contains(words) else {
                peer.write("HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n")
                return
            }
            peer.write("HTTP/1.1 200 Connected\r\n\r\n")
            peer.tunnel(to: port)
        }
    }

    private func fate(_ server: TLSServer, _ proxyURL: String, noProxy: [String] = []) async throws -> CurlResult {
        let configuration = CurlConfiguration(proxy: proxyURL, noProxy: noProxy, caFile: server.certificate)
        let port = server.port
        return try await withClient(configuration) { await $0.perform(.get("https://localhost:\(port)/")) }
    }

    @Test("a tunnel carries the request, the proxy sees the host and nothing of what is inside")
    func tunnel() async throws {
        let server = try TLSServer()
        defer { server.stop() }
        let proxy = proxy(to: server.port)
        defer { proxy.stop() }
        let answer = try await fate(server, proxy.url("")).answer
        #expect(answer?.status == 200)
        #expect(answer?.headers["content-type"]?.hasPrefix("text/html") == true)
        let lines = try #require(proxy.requests.first).head.split(separator: "\r\n")
        #expect(proxy.requests.count == 1 && lines[0] == "CONNECT localhost:\(server.port) HTTP/1.1")
        #expect(!lines.contains { $0.lowercased().hasPrefix("proxy-authorization") })
    }

    @Test("a name and a password in the proxy's URL are shown to the proxy, decoded; without them it says no")
    func credentials() async throws {
        let server = try TLSServer()
        defer { server.stop() }
        // "user:pa:ss w%rd" in base64.
        let proxy = proxy(to: server.port, wants: "Proxy-Authorization: Basic dXNlcjpwYTpzcyB3JXJk\r\n")
        defer { proxy.stop() }
        let address = "127.0.0.1:\(proxy.port)"
        #expect(try await fate(server, "http://user:pa%3Ass%20w%25rd@\(address)").answer?.status == 200)
        #expect(try await fate(server, "http://\(address)").notSent == .proxy)
        #expect(try await fate(server, "http://user:wrong@\(address)").notSent == .proxy)
    }

    @Test("a host that needs no proxy is dialled, with its port where one is named")
    func direct() async throws {
        let server = try TLSServer()
        defer { server.stop() }
        let nobody = "http://127.0.0.1:1"
        for entry in ["localhost", "localhost:\(server.port)", "*"] {
            #expect(try await fate(server, nobody, noProxy: [entry]).answer?.status == 200, "\(entry)")
        }
        #expect(try await fate(server, nobody, noProxy: ["localhost:1"]).notSent == .proxy)
    }

    @Test("the provider's certificate is checked through a proxy too")
    func certificate() async throws {
        let server = try TLSServer(name: "other.example")
        defer { server.stop() }
        let proxy = proxy(to: server.port)
        defer { proxy.stop() }
        #expect(try await fate(server, proxy.url("")).notSent == .tls(.otherHost))
    }
}

@Suite("How old a connection gets", .timeLimit(.minutes(1)))
struct ConnectionAgeTests {
    @Test("under constant load a connection is not used beyond its age, so that a changed address is followed")
    func age() async throws {
        let server = ScriptedServer { peer in
            while peer.readRequest() != nil { peer.write(okay) }
        }
        defer { server.stop() }
        var configuration = CurlConfiguration()
        configuration.connectionAge = .seconds(1)
        let start = ContinuousClock.now
        try await withClient(configuration) { client in
            while server.requests.last?.connection != 2, ContinuousClock.now - start < .seconds(30) {
                #expect(await client.perform(.get(server.url("/"))).answer?.status == 200)
            }
        }
        // libcurl counts whole seconds: the third connection comes after two, and not after half a minute.
        #expect(ContinuousClock.now - start > .seconds(2) && ContinuousClock.now - start < .seconds(20))
        #expect(server.requests.last?.connection == 2)
    }

    @Test("what a provider's connections are made with is bounded: address and connection together within 5 minutes")
    func bound() {
        let lookup = Duration.seconds(60)
        #expect(CurlConfiguration().connectionAge + lookup <= .seconds(300))
    }
}
