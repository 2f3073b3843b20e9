// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// `openssl s_server` on a free loopback port with a certificate of its own for `localhost`; answers every GET.
final class TLSServer {
    let port: Int
    let certificate: String
    private let folder: URL
    private let process: ChildProcess

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "curl-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        certificate = folder.appending(path: "cert.pem").path
        let key = folder.appending(path: "key.pem").path
        let maker = try ChildProcess([
            "/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=localhost",
            "-addext", "subjectAltName=DNS:localhost",
        ])
        maker.wait()
        process = try ChildProcess([
            "/usr/bin/openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", key, "-www",
        ])
        var text = ""
        while !text.contains(/ACCEPT .*:[0-9]+\n/) {
            let piece = process.read()
            guard !piece.isEmpty else { throw CocoaError(.fileReadUnknown) }
            text += String(decoding: piece, as: UTF8.self)
        }
        port = text.firstMatch(of: /ACCEPT .*:([0-9]+)\n/).flatMap { Int($0.1) } ?? 0
    }

    func stop() {
        process.signal(SIGTERM)
        process.wait()
        try? FileManager.default.removeItem(at: folder)
    }
}
