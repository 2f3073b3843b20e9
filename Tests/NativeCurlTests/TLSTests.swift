// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import NativeCurl

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
        #expect(misnamed.notSent == .tls(.otherHost))
    }

    @Test("a certificate that has expired, or is for another host, is not taken though its issuer is trusted")
    func badCertificate() async throws {
        for (server, fault) in [
            (try TLSServer(days: -1), TLSFault.expired), (try TLSServer(name: "other.example"), .otherHost),
        ] {
            defer { server.stop() }
            let (trusted, port) = (CurlConfiguration(caFile: server.certificate), server.port)
            let result = try await withClient(trusted) { await $0.perform(.spend("https://localhost:\(port)/")) }
            #expect(result.notSent == .tls(fault))
        }
    }

    @Test("a file of certificates adds to the system's: both kinds are taken, a third is not")
    func addedCertificates() async throws {
        let (known, own, stranger) = (try TLSServer(), try TLSServer(), try TLSServer())
        defer { for server in [known, own, stranger] { server.stop() } }
        var configuration = CurlConfiguration(caFile: own.certificate)
        configuration.systemCertificates = try known.hashedFolder()
        let ports = [known.port, own.port, stranger.port]
        let results = try await withClient(configuration) { client in
            var results: [CurlResult] = []
            for port in ports { results.append(await client.perform(.get("https://localhost:\(port)/"))) }
            return results
        }
        #expect(results.map { $0.answer?.status } == [200, 200, nil])
        #expect(results[2].notSent == .tls(.verification))
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
