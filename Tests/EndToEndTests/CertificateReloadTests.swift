// SPDX-License-Identifier: Apache-2.0
import CommandLineEdge
import Glibc
import NativeCurl
import NativeEventLoop
import NativeHTTPServer
import NativeSystem
import Settings
import TestSupport
import Testing

@testable import GatewayAssembly

@Suite("The listener's certificate, from its files", .timeLimit(.minutes(1)))
struct CertificateReloadTests {
    @Test("new files are shown after a reload; bad or exposed ones leave the old certificate in place")
    func reload() async throws {
        try await withFolder { folder in
            try makeCertificate("tls", in: folder)
            try await TestGateway.use(in: folder) { serving in
                let tls = TLSSettings(certificate: folder + "/tls.pem", privateKey: folder + "/tls.key")
                #expect(serving.apiAddress.hasPrefix("https://127.0.0.1:"))
                let first = try readFile(at: folder + "/tls.pem", limit: 1 << 16).bytes
                #expect(try await status(of: serving, trusting: first, in: folder) == 401)

                try makeCertificate("tls", in: folder)
                await serving.takeCertificate(tls)
                let second = try readFile(at: folder + "/tls.pem", limit: 1 << 16).bytes
                #expect(try await status(of: serving, trusting: second, in: folder) == 401)
                #expect(try await status(of: serving, trusting: first, in: folder) == nil)

                #expect(chmod(folder + "/tls.key", 0o644) == 0)
                await serving.takeCertificate(tls)
                try makeCertificate("other", in: folder)
                await serving.takeCertificate(
                    TLSSettings(certificate: folder + "/other.pem", privateKey: folder + "/tls.key"))
                #expect(chmod(folder + "/tls.key", 0o640) == 0)
                await serving.takeCertificate(
                    TLSSettings(certificate: folder + "/other.pem", privateKey: folder + "/tls.key"))
                await serving.takeCertificate(TLSSettings(certificate: folder + "/none", privateKey: folder + "/none"))
                #expect(try await status(of: serving, trusting: second, in: folder) == 401)
            }
        }
    }

    @Test("a start with a key that others may read, or that is another's, says so")
    func refusedStart() async throws {
        try await withFolder { folder in
            try makeCertificate("tls", in: folder)
            try makeCertificate("other", in: folder)
            #expect(chmod(folder + "/tls.key", 0o644) == 0)
            let files = TLSSettings(certificate: folder + "/tls.pem", privateKey: folder + "/tls.key")
            let exposed = #expect(throws: StartFailure.self) { try TLSFiles.identity(files) }
            #expect(
                exposed?.sentence
                    == "server.tls.private_key \(folder)/tls.key: its mode is 0644; it must be 0600, or 0640 where a "
                    + "group reads it")
            let mixed = TLSSettings(certificate: folder + "/tls.pem", privateKey: folder + "/other.key")
            let mismatched = #expect(throws: StartFailure.self) { try TLSFiles.identity(mixed) }
            #expect(
                mismatched?.sentence
                    == "server.tls: the certificate and the private key cannot be read, or do not belong together")
            #expect(mismatched?.status.rawValue == 3)
        }
    }

    /// The status of an answer to nobody in particular; nil where the certificate is not the trusted one.
    private func status(of serving: Serving, trusting certificate: [UInt8], in folder: String) async throws -> Int? {
        let file = folder + "/trusted.pem"
        try replaceFile(certificate, at: file, permissions: 0o600)
        let loop = try EventLoop.start(name: "tls-client")
        defer { loop.stop() }
        let client = try CurlClient(loop: loop, configuration: CurlConfiguration(caFile: file))
        let request = CurlRequest(
            method: .get, url: "https://localhost:\(serving.api.port)/v1/consents", headers: [],
            connectTimeout: .seconds(5), timeout: .seconds(10), spends: false)
        let result = await client.perform(request)
        await client.stop()
        if case .answered(let answer) = result { return answer.status }
        return nil
    }

    private func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = try makeTemporaryFolder(prefix: "consent-gateway-tls-", in: "/tmp")
        defer { removeFolder(at: folder) }
        try await body(folder)
    }

    private func makeCertificate(_ name: String, in folder: String) throws {
        let maker = try ChildProcess([
            "/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", "\(folder)/\(name).key", "-out", "\(folder)/\(name).pem", "-days", "2", "-subj", "/CN=\(name)",
            "-addext", "subjectAltName=DNS:localhost",
        ])
        #expect(maker.wait() == 0)
    }
}

extension TestGateway {
    /// A gateway whose listener speaks TLS with `tls.pem` and `tls.key` of the folder.
    fileprivate static func use(in folder: String, _ body: (Serving) async throws -> Void) async throws {
        try prepare(
            folder,
            """
            server:
              listen: 127.0.0.1:0
              admin_listen: 127.0.0.1:0
              tls: { certificate: tls.pem, private_key: tls.key }
            store: { url: "sqlite:consents.db" }
            vault:
              keys: { file: vault-keys.json }
            providers:
              paypal:
                preset: paypal
                environment: sandbox
                client_id: simulated-client
                client_secret: simulated-secret
                scopes: [openid]
            """)
        let gateway = try await start(in: folder)
        do {
            try await body(gateway.serving)
            await gateway.stop()
        } catch {
            await gateway.stop()
            throw error
        }
    }
}
