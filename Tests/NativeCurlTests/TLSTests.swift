// SPDX-License-Identifier: Apache-2.0
import NativeCurl
import Testing

@Suite("TLS to providers", .timeLimit(.minutes(1)))
struct TLSTests {
    @Test("a certificate that nobody vouches for, or for another host, leaves the request unsent")
    func verification() async throws {
        let server = try TLSServer()
        defer { server.stop() }
        let (trusted, port) = (CurlConfiguration(caFile: server.certificate), server.port)
        let stranger = try await withClient { await $0.perform(.spend("https://localhost:\(port)/")) }
        #expect(stranger.notSent == .tls(.verification))
        let known = try await withClient(trusted) { await $0.perform(.get("https://localhost:\(port)/")) }
        #expect(known.answer?.status == 200)
        let misnamed = try await withClient(trusted) { await $0.perform(.spend("https://127.0.0.1:\(port)/")) }
        #expect(misnamed.notSent == .tls(.verification))
    }

    @Test("a file of certificates that cannot be read is named")
    func missingFile() async throws {
        let server = try TLSServer()
        defer { server.stop() }
        let (configuration, port) = (CurlConfiguration(caFile: server.certificate + ".none"), server.port)
        let result = try await withClient(configuration) { await $0.perform(.spend("https://localhost:\(port)/")) }
        #expect(result.notSent == .tls(.trustStore))
    }

    @Test("a server that speaks no TLS gets no byte of the request")
    func plainServer() async throws {
        let server = ScriptedServer { peer in peer.write(okay) }
        defer { server.stop() }
        let result = try await withClient { await $0.perform(.spend(server.url("/", scheme: "https"))) }
        #expect(result.notSent == .tls(.handshake))
    }

    @Test("a connection that breaks within the handshake leaves the request unsent", arguments: [false, true])
    func brokenHandshake(isReset: Bool) async throws {
        let server = ScriptedServer { peer in
            _ = peer.read(100)
            if isReset { peer.reset() }
        }
        defer { server.stop() }
        let result = try await withClient { await $0.perform(.spend(server.url("/", scheme: "https"))) }
        #expect(result.notSent == .tls(.handshake))
    }
}
