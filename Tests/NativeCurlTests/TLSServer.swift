// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// `openssl s_server` on a free loopback port with a certificate of its own, which nobody else vouches for; answers
/// every GET.
final class TLSServer {
    let port: Int
    let certificate: String
    private let folder: URL
    private let process: ChildProcess

    /// - Parameters:
    ///   - name: the one host that the certificate is for.
    ///   - days: how long the certificate is good from now on; −1: it ended yesterday.
    ///   - options: more of `openssl s_server`.
    init(name: String = "localhost", days: Int = 2, options: [String] = []) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "curl-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        certificate = folder.appending(path: "cert.pem").path
        let (key, request) = (folder.appending(path: "key.pem").path, folder.appending(path: "request.pem").path)
        try ChildProcess([
            "/usr/bin/openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", key, "-out", request, "-subj", "/CN=\(UUID().uuidString)",
            "-addext", "subjectAltName=DNS:\(name)",
        ]).wait()
        try ChildProcess([
            "/usr/bin/openssl", "x509", "-req", "-in", request, "-signkey", key, "-out", certificate,
            "-days", String(days), "-copy_extensions", "copy",
        ]).wait()
        process = try ChildProcess(
            [
                "/usr/bin/openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", key, "-www",
            ] + options)
        var text = ""
        while !text.contains(/ACCEPT .*:[0-9]+\n/) {
            let piece = process.read()
            guard !piece.isEmpty else { throw CocoaError(.fileReadUnknown) }
            text += String(decoding: piece, as: UTF8.self)
        }
        port = text.firstMatch(of: /ACCEPT .*:([0-9]+)\n/).flatMap { Int($0.1) } ?? 0
    }

    /// A folder that names certificates by their hash, as the system's does, with this one in it.
    func hashedFolder() throws -> String {
        let hashed = folder.appending(path: "hashed")
        try FileManager.default.createDirectory(at: hashed, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: certificate, toPath: hashed.appending(path: "own.pem").path)
        try ChildProcess(["/usr/bin/openssl", "rehash", hashed.path]).wait()
        return hashed.path
    }

    func stop() {
        process.signal(SIGTERM)
        process.wait()
        try? FileManager.default.removeItem(at: folder)
    }
}
