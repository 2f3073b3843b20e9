// SPDX-License-Identifier: Apache-2.0
import Foundation
import NativeSystem
import TestSupport
import Testing

@testable import NativeCurl

/// `openssl s_server` that takes nobody without a certificate of its own authority, and answers every GET with what it
/// knows of the connection.
private final class StrictServer {
    let server: TLSServer
    private let folder: URL

    /// - Parameter version: `-tls1_2` or `-tls1_3`.
    init(version: String) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "curl-mtls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let authority = folder.appending(path: "authority.pem").path
        try StrictServer.make(authority, folder.appending(path: "authority.key").path, name: "authority")
        server = try TLSServer(options: [version, "-Verify", "1", "-verify_return_error", "-CAfile", authority])
    }

    /// A certificate of the authority, or of nobody: certificate and key in PEM.
    func identity(named name: String, isOfAuthority: Bool = true) throws -> CurlClientIdentity {
        let (certificate, key) = (path(name + ".pem"), path(name + ".key"))
        if isOfAuthority {
            let request = path(name + ".csr")
            try ChildProcess([
                "/usr/bin/openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", key, "-out", request, "-subj", "/CN=\(name)",
            ]).wait()
            try ChildProcess([
                "/usr/bin/openssl", "x509", "-req", "-in", request, "-CA", path("authority.pem"),
                "-CAkey", path("authority.key"), "-out", certificate, "-days", "2",
            ]).wait()
        } else {
            try StrictServer.make(certificate, key, name: name)
        }
        let files = try [certificate, key].map { try readFile(at: $0, limit: 1 << 16).bytes }
        return CurlClientIdentity(certificate: files[0], privateKey: files[1])
    }

    private func path(_ name: String) -> String { folder.appending(path: name).path }

    private static func make(_ certificate: String, _ key: String, name: String) throws {
        try ChildProcess([
            "/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=\(name)",
        ]).wait()
    }

    func stop() {
        server.stop()
        try? FileManager.default.removeItem(at: folder)
    }
}

@Suite("A client's certificate", .timeLimit(.minutes(2)))
struct ClientCertificateTests {
    private static let versions = ["-tls1_2", "-tls1_3"]

    @Test("a server that asks for a certificate sees ours, and a renewed one from then on", arguments: versions)
    func shown(_ version: String) async throws {
        let strict = try StrictServer(version: version)
        defer { strict.stop() }
        let identity = try strict.identity(named: "first-client")
        let renewed = try strict.identity(named: "second-client").current
        let configuration = CurlConfiguration(caFile: strict.server.certificate, identity: identity)
        let url = "https://localhost:\(strict.server.port)/"
        let pages = try await withClient(configuration) { client in
            var pages: [String?] = []
            for isRenewed in [false, true] {
                if isRenewed { identity.take(certificate: renewed.certificate, privateKey: renewed.privateKey) }
                let result = await client.perform(.get(url))
                pages.append(result.answer.map { String(decoding: $0.body, as: UTF8.self) })
            }
            return pages
        }
        #expect(pages[0]?.contains("first-client") == true, "\(pages)")
        #expect(pages[1]?.contains("second-client") == true, "\(pages)")
    }

    @Test(
        "a server that does not take our certificate has taken no request either, in TLS 1.3 too",
        arguments: versions, [true, false])
    func refused(_ version: String, hasCertificate: Bool) async throws {
        let strict = try StrictServer(version: version)
        defer { strict.stop() }
        let identity =
            hasCertificate
            ? try strict.identity(named: "stranger", isOfAuthority: false)
            : CurlClientIdentity(certificate: [0x2D], privateKey: [0x2D])
        let configuration = CurlConfiguration(caFile: strict.server.certificate, identity: identity)
        let url = "https://localhost:\(strict.server.port)/"
        let result = try await withClient(configuration) { await $0.perform(.spend(url)) }
        #expect(result.notSent == .tls(.clientCertificate), "\(result)")
    }

    @Test("without one a server that asks for none is called as ever, and nothing is printed of one that is there")
    func harmless() async throws {
        let server = try TLSServer()
        let strict = try StrictServer(version: "-tls1_3")
        defer {
            server.stop()
            strict.stop()
        }
        let identity = try strict.identity(named: "client")
        let configuration = CurlConfiguration(caFile: server.certificate, identity: identity)
        let url = "https://localhost:\(server.port)/"
        let result = try await withClient(configuration) { await $0.perform(.get(url)) }
        #expect(result.answer?.status == 200)
        var printed = ""
        dump(identity, to: &printed)
        #expect(!printed.contains("BEGIN") && printed.contains("a client's certificate and its key"))
    }
}
